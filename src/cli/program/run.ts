/** Has commander read a command line, and says in our words what it finds wrong. */
import { CommanderError } from "commander";
import { quoteInput } from "../../core/quote.ts";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Invocation } from "../invocation.ts";
import { type Io, writeText } from "../io.ts";
import { toParsedArguments } from "./help-arguments.ts";
import { createProgram } from "./program.ts";

/**
 * Runs the command of any command line.
 *
 * @param argv the arguments, without Node and the script
 * @throws CommandError for wrong usage, and whatever the command throws
 */
export async function runProgram(
  argv: readonly string[],
  io: Io,
  invocation: Invocation,
): Promise<void> {
  const program = createProgram(io, invocation);
  try {
    await program.parseAsync(toParsedArguments(argv, program), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    invocation.exitCode = toExitCode(error, invocation.command);
  } finally {
    // Here, because commander would not wait for it, nor know that the disk is full.
    if (invocation.help !== undefined) await writeText(io.stdout, invocation.help);
  }
}

/**
 * The exit code after help or the version, for which commander throws too.
 *
 * @param command whose arguments were being read
 * @throws CommandError
 */
function toExitCode(
  { exitCode, code, message }: CommanderError,
  command: string | undefined,
): number {
  if (exitCode === 0) return exitCodes.done.code;
  // Help that nobody asked for has been shown instead of a message.
  if (code === "commander.help") return exitCodes.usage.code;
  const sentence = message
    .replace(/^error: /, "")
    .replace(/\.$/, "")
    .replace(/\n\(Did you mean (.*)\?\)$/s, ": did you mean $1?")
    .replace(/^option '(?:-\w, )?(--\S+) (.*)' argument missing$/, "$1 has no value: write $1 $2")
    .replace(/\. Expected (\d+) arguments? but got (\d+)$/, describeExcess)
    .replace(/^unknown option '[^']*'$/, command === undefined ? `$&: ${optionPlace}` : "$&")
    .replaceAll("\n", " ");
  const help = ["plantstore", command, "--help"].filter((word) => word !== undefined).join(" ");
  throw new CommandError("usage", quoteInput(sentence, 400), { hint: `see "${help}"` });
}

const optionPlace = "the options of a command follow its name";

function describeExcess(_: string, expected: string, given: string): string {
  const count = expected === "0" ? "none" : expected;
  return ` (${given} instead of ${count}): text with spaces needs quotation marks`;
}
