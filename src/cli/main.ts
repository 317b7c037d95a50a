/** The command as a function of its arguments and its world. The only place where failures are told. */
import { CommandError } from "./command-error.ts";
import { findInexactArgument } from "./exact-arguments.ts";
import { toFailure } from "./failure.ts";
import { toParsedArguments } from "./help-arguments.ts";
import type { Invocation } from "./invocation.ts";
import { type Io, writeText } from "./io.ts";
import { createProgram } from "./program.ts";
import { createReporter } from "./output/reporter.ts";

/**
 * Runs the command.
 *
 * @param argv the arguments, without Node and the script
 * @returns the exit code; it never rejects
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const invocation: Invocation = { exitCode: 0 };
  try {
    const place = findInexactArgument(argv, io.readCommandLine);
    if (place !== undefined) {
      throw new CommandError(
        "usage",
        `argument ${place} is not UTF-8 and would not arrive as it is: give it in UTF-8`,
      );
    }
    await runProgram(argv, io, invocation);
    return invocation.exitCode;
  } catch (error) {
    const { exitCode, message, hint, stack } = toFailure(error, invocation.command);
    const reporter = createReporter(io, invocation.color);
    if (message !== undefined) await reporter.error(message);
    if (hint !== undefined) await reporter.note(hint);
    if (stack !== undefined) await reporter.stack(stack);
    return exitCode;
  }
}

async function runProgram(argv: readonly string[], io: Io, invocation: Invocation): Promise<void> {
  const program = createProgram(io, invocation);
  try {
    await program.parseAsync(toParsedArguments(argv, program), { from: "user" });
  } finally {
    // Here, because commander would not wait for it, nor know that the disk is full.
    if (invocation.help !== undefined) await writeText(io.stdout, invocation.help);
  }
}
