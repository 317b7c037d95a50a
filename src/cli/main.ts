/** Runs a command line and returns its exit code. */
import { type Io, writeText } from "./io.ts";

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
  const { run } = await import("./run.ts");
  return run(argv, io);
}
