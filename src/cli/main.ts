/** Runs a command line; the only reporter of errors. */
import { isUtf8 } from "node:buffer";
import { isError } from "../core/messages.ts";
import { CommandError, exitCodes } from "./command-error.ts";
import { type Io, writeText } from "./io.ts";
import { Terminal } from "./terminal/terminal.ts";

export { createProcessIo } from "./io.ts";

/**
 * Runs the command.
 *
 * @param argv the arguments, without Node and the script
 * @returns the exit code; it never rejects
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  // A shortcut: the version needs no other module. Every other command line, and every failure, is for commander.
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    const { toVersionLine } = await import("./version.ts");
    const isWritten = await writeText(io.stdout, `${toVersionLine(io)}\n`).then(
      () => true,
      () => false,
    );
    if (isWritten) return 0;
  }
  return run(argv, io);
}

/** Runs the command. @returns the exit code; it never rejects */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const terminal = new Terminal(io);
  try {
    const position = findInexactArgument(argv, io.readCommandLine);
    if (position !== undefined) {
      throw new CommandError("usage", `argument ${position} is not UTF-8: encode it as UTF-8`);
    }
    // The version is printed without commander.
    const { runProgram } = await import("./program.ts");
    return await runProgram(argv, io, terminal);
  } catch (error) {
    return printFailure(error, terminal);
  }
}

/** Prints what is wrong. @returns the exit code */
export async function printFailure(thrown: unknown, terminal: Terminal): Promise<number> {
  // Another version may have replaced the files since the start.
  const failures = await import("./command-failure.ts").catch(() => undefined);
  if (failures === undefined) {
    await terminal.error(isError(thrown) ? thrown.message : String(thrown));
    return thrown instanceof CommandError ? thrown.exitCode : exitCodes.internal.code;
  }
  const { exitCode, message, number, hints = [], stack } = failures.toFailure(thrown);
  if (message !== undefined) await terminal.error(message, number);
  for (const line of [...hints, ...(stack?.split("\n") ?? [])]) await terminal.note(line);
  return exitCode;
}

const replacementCharacter = "\uFFFD";

/**
 * Finds the first argument whose bytes are not UTF-8. Node silently replaces such bytes with U+FFFD, which is also a legal
 * character.
 *
 * @param readCommandLine as in {@link Io}; called only if an argument contains U+FFFD
 * @returns its position, counted from 1; undefined without one, or if the system has no command line to read
 */
export function findInexactArgument(
  argv: readonly string[],
  readCommandLine: () => Uint8Array | undefined,
): number | undefined {
  if (!argv.some((argument) => argument.includes(replacementCharacter))) return undefined;
  const commandLine = readCommandLine();
  if (commandLine === undefined) return undefined;
  // One character for each byte. A NUL ends every argument, and those of Node come first.
  const words = Buffer.from(commandLine).toString("latin1").split("\0").slice(0, -1);
  const index = words.slice(-argv.length).findIndex((word) => !isUtf8(Buffer.from(word, "latin1")));
  return index === -1 ? undefined : index + 1;
}
