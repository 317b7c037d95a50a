/** The command as a function of its arguments and its world. The only place where failures are told. */
import { CommandError } from "./command-error.ts";
import { findInexactArgument } from "./exact-arguments.ts";
import { toFailure } from "./failure.ts";
import type { Invocation } from "./invocation.ts";
import type { Io } from "./io.ts";
import { createReporter } from "./output/reporter.ts";
import { readPlainCommand, runPlainCommand } from "./plain-command.ts";

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
    const command = readPlainCommand(argv);
    if (command === undefined) {
      const { runProgram } = await import("./program/run.ts");
      await runProgram(argv, io, invocation);
    } else {
      await runPlainCommand(command, io, invocation);
    }
    return invocation.exitCode;
  } catch (error) {
    const { exitCode, message, hint, stack } = toFailure(error);
    const reporter = createReporter(io, invocation.color);
    if (message !== undefined) await reporter.error(message);
    if (hint !== undefined) await reporter.note(hint);
    if (stack !== undefined) await reporter.stack(stack);
    return exitCode;
  }
}
