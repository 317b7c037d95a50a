/** Prepares the programs that the benchmark measures: finds commands, bundles TypeScript and builds Go. */
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../helpers/run.ts";
import { bundle, sqliteWorker } from "../store/sqlite/bundle.ts";

/** GOPATH of the Go packages that Debian installs. */
const debianGoPath = "/usr/share/gocode";

/** A program that is ready to run, and the directory that has to be removed afterwards. */
export interface BuiltProgram {
  readonly path: string;
  remove(): Promise<void>;
}

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
 * Bundles a TypeScript program that opens a store, as the build bundles `plantstore`.
 *
 * @param name the file's name below `programs/`, without `.ts`
 */
export async function bundleProgram(name: string): Promise<BuiltProgram> {
  const program = `test/bench/programs/${name}.ts`;
  const { directory } = await bundle({ program, ...sqliteWorker });
  return toBuiltProgram(directory, "program.js");
}

/**
 * Builds a Go program with the packages that Debian installs.
 *
 * @param name the directory below `programs/`
 * @throws an error whose `stderr` is the output of the compiler
 */
export async function buildGoProgram(name: string): Promise<BuiltProgram> {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-bench-go-"));
  const program = toBuiltProgram(directory, "program");
  const env = {
    PATH: process.env["PATH"],
    HOME: homedir(),
    GOPATH: [process.env["GOPATH"], debianGoPath].filter(Boolean).join(delimiter),
    GO111MODULE: "off",
  };
  try {
    await run("go", ["build", "-o", program.path, "."], { cwd: toProgramPath(name), env });
  } catch (error) {
    await program.remove();
    throw error;
  }
  return program;
}

function toBuiltProgram(directory: string, file: string): BuiltProgram {
  return {
    path: join(directory, file),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
