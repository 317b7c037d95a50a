/** Runs the built command like a user: in its own process, with its own home directory and a minimal environment. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { checkArguments, checkOutput } from "./secrecy.ts";

const binary = fileURLToPath(new URL("../../bin/plantstore.js", import.meta.url));

/** A running process. */
export type Running = ReturnType<typeof startBinary>;

/** Options of a process. */
export interface BinaryOptions {
  /** The home directory, which contains every file that the process keeps. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A command of the shell that runs first, such as `ulimit`. */
  readonly shell?: string;
  /** True to collect stdout. Default: true. Otherwise the caller reads it, and there is no first line. */
  readonly collects?: boolean;
}

/** Starts the command; it is killed when the test ends. */
export function startBinary(
  args: readonly string[],
  { home, env, cwd, shell, collects = true }: BinaryOptions,
) {
  checkArguments(args);
  const command = [process.execPath, binary, ...args] as const;
  const [file, ...rest] =
    shell === undefined ? command : ["sh", "-c", `${shell}; exec "$@"`, "sh", ...command];
  const child = spawn(file, rest, {
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
  const finished = once(child, "close").then(([code = null]: (number | null)[]) => {
    checkOutput({ argv: args, env: env ?? {}, stdout, stderr });
    /** The exit code; null if a signal ended the process. */
    return { code, stdout, stderr };
  });
  /** For `serve` its URL; rejects when the process ends without a line. */
  const firstLine = new Promise<string>((resolve, reject) => {
    if (!collects) return;
    child.stdout.on("data", () => {
      const end = stdout.indexOf("\n");
      if (end >= 0) resolve(stdout.slice(0, end));
    });
    void finished.then(() => reject(new Error(`no line on stdout; stderr: ${stderr}`)));
  });
  // A test that waits only for the end does not handle this rejection.
  firstLine.catch(() => undefined);
  return { child, firstLine, finished };
}

/** Runs the command to its end, with the given text as its stdin. */
export function runBinary(
  args: readonly string[],
  options: BinaryOptions & { readonly stdin?: string | Uint8Array },
) {
  const { child, finished } = startBinary(args, options);
  // The process may end before it has read all of it.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.stdin ?? "");
  return finished;
}
