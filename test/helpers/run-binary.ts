/** The built command as its users run it: a process of its own, with its own home and nothing of ours in the environment. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { checkArguments, checkOutput } from "./secrecy.ts";

const binary = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

/** What a process left behind. */
export interface Finished {
  /** The exit code; 128 + the signal's number is not made up for a process that a signal ended: that is null. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process under way. */
export interface Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Resolves with the first line on stdout, for `serve` its URL; rejects when the process ends without one. */
  readonly firstLine: Promise<string>;
  readonly finished: Promise<Finished>;
}

/** What a process is started with. */
export interface BinaryOptions {
  /** The home directory; all that it keeps is below it. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether to keep what comes on stdout; by default it does. Else the caller reads it, and there is no first line. */
  readonly collects?: boolean;
}

/** Starts the command; what is left of it when the test has ended is killed. */
export function startBinary(
  args: readonly string[],
  { home, env, cwd, collects = true }: BinaryOptions,
): Running {
  checkArguments(args);
  const child = spawn(process.execPath, [binary, ...args], {
    cwd: cwd ?? home,
    env: { HOME: home, USERPROFILE: home, PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8");
  if (collects) child.stdout.on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const finished = once(child, "close").then(([code]: (number | null)[]): Finished => {
    checkOutput({ argv: args, env: env ?? {}, stdout, stderr });
    return { code: code ?? null, stdout, stderr };
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    if (!collects) return;
    child.stdout.on("data", () => {
      const end = stdout.indexOf("\n");
      if (end >= 0) resolve(stdout.slice(0, end));
    });
    void finished.then(() => reject(new Error(`no line on stdout; stderr: ${stderr}`)));
  });
  // A test that waits only for the end is not told of the missing line.
  firstLine.catch(() => undefined);
  return { child, firstLine, finished };
}

/** Runs the command to its end; its stdin is the text given, or closed at once. */
export function runBinary(
  args: readonly string[],
  options: BinaryOptions & { readonly stdin?: string | Uint8Array },
): Promise<Finished> {
  const { child, finished } = startBinary(args, options);
  // The process may end without having read all of it.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.stdin ?? "");
  return finished;
}
