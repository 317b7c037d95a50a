/** The command `explain`. */
import { type ErrorKind, errorKinds, errorTable, toStatus } from "../../core/errors.ts";
import { quoteInput } from "../../core/messages.ts";
import { UsageError } from "../command-error.ts";
import { toExitCode } from "../command-failure.ts";
import type { Candidate, CommandBody, Run } from "../command.ts";
import { writeText } from "../io.ts";
import { jsonOption } from "../options/remote.ts";
import { readOptions } from "../options/values.ts";
import { toItem } from "../terminal/table.ts";

/** `plantstore explain`. */
export const explainCommand: CommandBody = {
  description: `Explains an error number of a plant store: its condition, how to fix it, and the
exit code of "plantstore create".`,
  options: jsonOption,
  listValues: async () => listErrorNumbers(),
  examples: [
    "plantstore explain 40900",
    "plantstore explain idTaken",
    "plantstore explain | grep token",
    "plantstore explain --json | jq .remedy",
  ],
  exitCodes: ["done", "internal", "usage", "outputClosed"],
  run: printExplanation,
};

/**
 * Explains one error by its number or its name, or lists all.
 *
 * @throws UsageError for an unknown error; OutputError
 */
export async function printExplanation({
  operands: [name],
  flags,
  io,
  terminal,
}: Run): Promise<void> {
  const { json } = readOptions(jsonOption, flags, io);
  if (json) {
    const shown = name === undefined ? errorKinds : [findKind(name)];
    return terminal.printLines(shown.map(toErrorJson));
  }
  await writeText(io.stdout, name === undefined ? listErrors() : explainError(findKind(name)));
}

/** All numbers, for completion. */
export function listErrorNumbers(): readonly Candidate[] {
  return errorKinds.map((kind) => {
    const { error, when } = errorTable[kind];
    return { value: String(error), description: when };
  });
}

function findKind(name: string): ErrorKind {
  const wanted = name.toLowerCase();
  const kind = errorKinds.find(
    (each) => each.toLowerCase() === wanted || String(errorTable[each].error) === wanted,
  );
  if (kind !== undefined) return kind;
  throw new UsageError(`unknown error "${quoteInput(name)}": "plantstore explain" lists all`);
}

function toErrorJson(kind: ErrorKind): string {
  const { error, when, remedy } = errorTable[kind];
  return JSON.stringify({ error, name: kind, when, remedy, exitCode: toExitCode(error) });
}

function listErrors(): string {
  const terms = errorKinds.map((kind) => `${errorTable[kind].error}  ${kind}`);
  const width = Math.max(...terms.map((term) => term.length));
  return errorKinds
    .map((kind, index) => toItem(terms[index] ?? "", width, errorTable[kind].when, undefined))
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
