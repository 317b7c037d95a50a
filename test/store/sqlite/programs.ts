/** Runs programs in other processes: bundled, because Node 20 does not run TypeScript. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { bundle, sqliteWorker } from "./bundle.ts";

/** Result of a program. */
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
export async function bundleProgram(name: string, directory?: string): Promise<string> {
  const program = `test/store/sqlite/programs/${name}.ts`;
  const bundled = await bundle({ program, ...sqliteWorker }, directory);
  onTestFinished(bundled.remove);
  return join(bundled.directory, "program.js");
}

/** Starts a command with an empty environment. It is killed when the test ends. */
export function start(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { env: {}, stdio: "pipe" });
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
