/** `plantstore explain`: explains the error numbers of the service. */
import { errorAdvice } from "../../../core/error-advice.ts";
import { type ErrorKind, errorTable, toStatus } from "../../../core/errors.ts";
import { quoteInput } from "../../../core/quote.ts";
import type { Candidate, Run } from "../../command.ts";
import { UsageError } from "../../command-error.ts";
import { toExitCode } from "../../failure.ts";
import { writeText } from "../../io.ts";
import { jsonOption } from "../../options.ts";
import { readOptions } from "../../settings.ts";

const kinds = Object.keys(errorTable) as ErrorKind[];

/**
 * Explains one error by its number or its name, or lists all.
 *
 * @throws UsageError for an unknown error; OutputError
 */
export async function explain({ operands: [name], flags, io, terminal }: Run): Promise<void> {
  const { json } = readOptions(jsonOption, flags, io);
  if (json) {
    const shown = name === undefined ? kinds : [findKind(name)];
    return terminal.printLines(shown.map(toErrorJson));
  }
  await writeText(io.stdout, name === undefined ? listErrors() : explainError(findKind(name)));
}

/** All numbers, for completion. */
export function listErrorNumbers(): readonly Candidate[] {
  return kinds.map((kind) => {
    const { error, when } = errorTable[kind];
    return { value: String(error), description: when };
  });
}

function findKind(name: string): ErrorKind {
  const wanted = name.toLowerCase();
  const kind = kinds.find(
    (each) => each.toLowerCase() === wanted || String(errorTable[each].error) === wanted,
  );
  if (kind !== undefined) return kind;
  throw new UsageError(`unknown error "${quoteInput(name)}": "plantstore explain" lists all`);
}

function toErrorJson(kind: ErrorKind): string {
  const { error, when } = errorTable[kind];
  const exitCode = toExitCode(error);
  return JSON.stringify({ error, name: kind, when, ...errorAdvice[kind], exitCode });
}

function listErrors(): string {
  const width = Math.max(...kinds.map((kind) => kind.length));
  return kinds
    .map((kind) => `${errorTable[kind].error}  ${kind.padEnd(width)}  ${errorTable[kind].when}\n`)
    .join("");
}

function describeStatus(kind: ErrorKind): string {
  const [status, other] = [toStatus(kind, "contract"), toStatus(kind, "http")];
  return status === other ? `${status}` : `${status}, or ${other} with serve --status-mode http`;
}

function explainError(kind: ErrorKind): string {
  const { error, when } = errorTable[kind];
  const { meaning, example, remedy } = errorAdvice[kind];
  return `\
${error} ${kind}: ${when}

${meaning}

Status:     ${describeStatus(kind)}
Example:    ${example}
What to do: ${remedy}
Exit code:  ${toExitCode(error)}, of "plantstore create"
`;
}
