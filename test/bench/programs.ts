/** Finds and builds the programs that the benchmark measures. */
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../helpers/run.ts";

/** GOPATH of the Go packages that Debian installs. */
const debianGoPath = "/usr/share/gocode";

/** Returns the path of a program below `programs/`. */
export function toProgramPath(name: string): string {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url));
}

/** Checks that a command is on the PATH and exits with 0. */
export async function isCommand(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}

/**
 * Builds the Go program with the packages that Debian installs.
 *
 * @returns its path, and what removes it
 * @throws an error whose `stderr` is the output of the compiler
 */
export async function buildGoProgram() {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-bench-go-"));
  const path = join(directory, "program");
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  const env = {
    PATH: process.env["PATH"],
    HOME: homedir(),
    GOPATH: [process.env["GOPATH"], debianGoPath].filter(Boolean).join(delimiter),
    GO111MODULE: "off",
  };
  try {
    await run("go", ["build", "-o", path, "."], { cwd: toProgramPath("go"), env });
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}
