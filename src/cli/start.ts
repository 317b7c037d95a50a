/** What runs first. It tells by itself what is known since the build, and loads the commands for everything else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Io, writeText } from "./io.ts";
import { toVersionLine } from "./version.ts";

export { createProcessIo } from "./io.ts";

/** The help of the program is that wide where there is room; only in a smaller terminal it is laid out anew. */
const overviewColumns = 80;

const versionArguments = new Set(["--version", "-V"]);
const overviewArguments = new Set([undefined, "--help", "-h", "help"]);

/**
 * Runs the command. The version and the overview take 1.2 times as long as starting Node; with the commands, which take no
 * part in them, it would be twice.
 *
 * @param argv the arguments, without Node and the script
 * @returns the exit code; it rejects only where a file of the package is missing
 */
export async function start(argv: readonly string[], io: Io): Promise<number> {
  const text = toKnownText(argv, io);
  if (text !== undefined && (await isWritten(text, io))) return 0;
  await cacheCompiledCode(io);
  const { main } = await import("./main.ts");
  return main(argv, io);
}

function toKnownText(argv: readonly string[], io: Io): string | undefined {
  const [word] = argv;
  if (argv.length > 1) return undefined;
  if (word !== undefined && versionArguments.has(word)) return `${toVersionLine(io)}\n`;
  if (!overviewArguments.has(word)) return undefined;
  const isNarrow = (io.stdout.columns || overviewColumns) < overviewColumns;
  return isNarrow ? undefined : readOverview();
}

function readOverview(): string | undefined {
  try {
    return readFileSync(join(import.meta.dirname, "overview.txt"), "utf8");
  } catch {
    return undefined;
  }
}

/** Of what can't be written, main says why. */
async function isWritten(text: string, { stdout }: Io): Promise<boolean> {
  try {
    await writeText(stdout, text);
    return true;
  } catch {
    return false;
  }
}

/** Node 20 has no such cache, and need not load the module for it. */
async function cacheCompiledCode({ nodeVersion }: Io): Promise<void> {
  if (Number.parseInt(nodeVersion, 10) < 22) return;
  const enableCompileCache = Reflect.get(await import("node:module"), "enableCompileCache") as
    | (() => void)
    | undefined;
  enableCompileCache?.(); // From Node 22.1 on.
}
