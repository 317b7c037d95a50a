/** Runs the programs next to this file as processes of their own: bundled, because Node 20 reads no TypeScript. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { onTestFinished } from "vitest";

/** Inside of the package, where a program finds the packages that it imports. */
const cacheDirectory = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));

/** What a program left behind. */
export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Bundles a program into one file of JavaScript below a directory, until the test has ended.
 *
 * @returns the path of the file
 */
export async function bundleProgram(name: string, directory = cacheDirectory): Promise<string> {
  await mkdir(directory, { recursive: true });
  const outDir = await mkdtemp(join(directory, "plantstore-program-"));
  onTestFinished(() => rm(outDir, { recursive: true, force: true }));
  await build({
    config: false,
    entry: { program: fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url)) },
    outDir,
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    external: ["@photostructure/sqlite"],
    silent: true,
  });
  return join(outDir, "program.mjs");
}

/** Starts a command with nothing of this process's environment; it does not outlive the test. */
export function start(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { env: {}, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Runs a command to its end. */
export async function run(command: string, args: readonly string[]): Promise<Outcome> {
  const child = start(command, args);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "close"),
  ]);
  return { exitCode, stdout, stderr };
}
