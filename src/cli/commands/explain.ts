/** `plantstore explain`: what an error number means, and what to do. */
import { errorAdvice } from "../../core/error-advice.ts";
import { type ErrorKind, errorTable } from "../../core/errors.ts";
import { quoteInput } from "../../core/quote.ts";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { toExitCode } from "../failure.ts";
import { type Io, writeText } from "../io.ts";

const kinds = Object.keys(errorTable) as ErrorKind[];

/**
 * Explains one error, or lists all.
 *
 * @param asked its number or its name
 * @returns the exit code, once it is printed
 * @throws CommandError when there is no such error
 * @throws OutputError
 */
export async function explain(asked: string | undefined, io: Io): Promise<number> {
  await writeText(io.stdout, asked === undefined ? listErrors() : explainError(findKind(asked)));
  return exitCodes.done.code;
}

function findKind(asked: string): ErrorKind {
  const wanted = asked.toLowerCase();
  const kind = kinds.find(
    (each) => each.toLowerCase() === wanted || String(errorTable[each].error) === wanted,
  );
  if (kind !== undefined) return kind;
  throw new CommandError(
    "usage",
    `no error is called "${quoteInput(asked)}": "plantstore explain" lists all of them`,
  );
}

function listErrors(): string {
  const width = Math.max(...kinds.map((kind) => kind.length));
  return kinds
    .map((kind) => `${errorTable[kind].error}  ${kind.padEnd(width)}  ${errorTable[kind].when}\n`)
    .join("");
}

function explainError(kind: ErrorKind): string {
  const { error, when } = errorTable[kind];
  const { meaning, example, remedy } = errorAdvice[kind];
  return `\
${error} ${kind}: ${when}

${meaning}

Example:    ${example}
What to do: ${remedy}
Exit code:  ${toExitCode(error)}, of "plantstore create"
`;
}
