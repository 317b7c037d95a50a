/** Runs a command line; the only reporter of errors. */
import { isError } from "../core/messages.ts";
import { CommandError, exitCodes } from "./command-error.ts";
import type { Io } from "./io.ts";
import { runProgram } from "./program.ts";
import { Terminal } from "./terminal/terminal.ts";

export { createProcessIo } from "./io.ts";

/** Node puts it in place of bytes of an argument that are not UTF-8. */
const replacementCharacter = "\uFFFD";

/** @param argv the arguments, without Node and the script. @returns the exit code; it never rejects */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const terminal = new Terminal(io);
  try {
    const index = argv.findIndex((argument) => argument.includes(replacementCharacter));
    if (index !== -1) {
      throw new CommandError(
        "usage",
        `argument ${index + 1} is not UTF-8, or contains U+FFFD: encode it as UTF-8, or use a file`,
      );
    }
    return await runProgram(argv, io, terminal);
  } catch (error) {
    return printFailure(error, terminal);
  }
}

/** @returns the exit code */
export async function printFailure(thrown: unknown, terminal: Terminal): Promise<number> {
  // Another version may have replaced the files since the start.
  const failures = await import("./command-failure.ts").catch(() => undefined);
  const error = failures?.toCommandFailure(thrown) ?? thrown;
  if (!(error instanceof CommandError)) {
    await terminal.error(isError(error) ? error.message : String(error));
    return exitCodes.internal.code;
  }
  const { exit, exitCode, message, number, hints } = error;
  // A reader that closed the output wants no further messages.
  if (exit !== "outputClosed") await terminal.error(message, number);
  await terminal.note(...hints);
  return exitCode;
}
