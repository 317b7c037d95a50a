/** The command `explain`. */
import { type ErrorKind, errorKinds, errorTable, toStatus } from "../../core/errors.ts";
import { findClosestWord, quoteInput } from "../../core/messages.ts";
import { UsageError } from "../command-error.ts";
import { toExitCode } from "../command-failure.ts";
import type { Candidate, CommandBody, Run } from "../command.ts";
import { writeText } from "../io.ts";
import { explainOptions } from "../options/remote.ts";
import { readOptions } from "../options/values.ts";
import { toItem } from "../terminal/table.ts";

/** `plantstore explain`. */
export const explainCommand: CommandBody = {
  description: `Explains error numbers of a plant store: their condition, how to fix them, and the
exit code of "plantstore create". The first digits of a number select all numbers
that begin with them.`,
  options: explainOptions,
  listValues: async () => listErrorNumbers(),
  examples: [
    "plantstore explain 40900",
    "plantstore explain idTaken 401",
    "plantstore explain | grep token",
    "plantstore explain --json | jq .remedy",
  ],
  exitCodes: ["done", "internal", "usage", "outputClosed"],
  run: printExplanation,
};

/**
 * Explains errors by their numbers, the first digits of these, or their names, or lists all.
 *
 * @throws UsageError for an unknown error; OutputError
 */
export async function printExplanation({
  operands: names,
  flags,
  io,
  terminal,
}: Run): Promise<void> {
  const { json } = readOptions(explainOptions, flags, io);
  if (json) {
    const shown = names.length === 0 ? errorKinds : findAllKinds(names);
    return terminal.printLines(shown.map(toErrorJson));
  }
  await writeText(io.stdout, names.length === 0 ? listErrors() : explainErrors(names));
}

/** All numbers, for completion. */
export function listErrorNumbers(): readonly Candidate[] {
  return errorKinds.map((kind) => {
    const { error, when } = errorTable[kind];
    return { value: String(error), description: when };
  });
}

/**
 * Explains errors.
 *
 * @param names numbers, the first digits of numbers, or names
 * @throws UsageError for an unknown error
 */
export function explainErrors(names: readonly string[]): string {
  return findAllKinds(names).map(explainError).join("\n");
}

function findAllKinds(names: readonly string[]): readonly ErrorKind[] {
  return [...new Set(names.flatMap(findKinds))];
}

function findKinds(name: string): readonly ErrorKind[] {
  const wanted = name.toLowerCase();
  const isPrefix = /^\d+$/.test(name);
  const kinds = errorKinds.filter((each) => {
    const number = String(errorTable[each].error);
    return each.toLowerCase() === wanted || (isPrefix && number.startsWith(name));
  });
  if (kinds.length > 0) return kinds;
  const numbers = errorKinds.map((kind) => String(errorTable[kind].error));
  const closest = isPrefix
    ? numbers.find((number) => number.startsWith(name.slice(0, 3)))
    : findClosestWord(name, [...errorKinds]);
  const guess = closest === undefined ? "" : ` (Did you mean ${closest}?)`;
  const message = `unknown error "${quoteInput(name)}"${guess}: "plantstore explain" lists all`;
  throw new UsageError(message);
}

function toErrorJson(kind: ErrorKind): string {
  const { error, when, remedy } = errorTable[kind];
  return JSON.stringify({ error, name: kind, when, remedy, exitCode: toExitCode(error) });
}

function listErrors(): string {
  const terms = errorKinds.map((kind) => `${errorTable[kind].error}  ${kind}`);
  const width = Math.max(...terms.map((term) => term.length));
  return errorKinds
    .map((kind, index) => {
      const { error, when } = errorTable[kind];
      const meaning = `${when} (exit code ${toExitCode(error)})`;
      return toItem(terms[index] ?? "", width, meaning, undefined);
    })
    .join("");
}

function describeStatus(kind: ErrorKind): string {
  const [status, other] = [toStatus(kind, "contract"), toStatus(kind, "http")];
  return status === other ? `${status}` : `${status}, or ${other} with serve --status-mode http`;
}

function explainError(kind: ErrorKind): string {
  const { error, when, remedy } = errorTable[kind];
  return `\
${error} ${kind}: ${when}

Status:     ${describeStatus(kind)}
What to do: ${remedy}
Exit code:  ${toExitCode(error)}, of "plantstore create"
`;
}
