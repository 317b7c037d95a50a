/** Runs a helper program that prints a token. */
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { quoteInput } from "../../core/quote.ts";
import { CommandError, toSystemReason } from "../command-error.ts";
import { InvalidValue } from "../../library/option-types.ts";
import { splitCommand } from "../command-words.ts";
import { type Io, type OutputStream, writeText } from "../io.ts";

/** Enough to unlock a password store. */
const defaultLimitMs = 60_000;
const maxOutputBytes = 64 * 1024;

/** Describes a command for the user. */
export function describeCommand(command: string): string {
  return `the command "${quoteInput(command, 200)}"`;
}

/**
 * Runs a program without a shell, and returns the token that it prints. The user sees its stderr, and no message contains
 * its output.
 *
 * @param limitMs time after which the program is stopped
 * @throws CommandError if the program fails, or prints anything but one line
 * @throws the signal's reason, once it is aborted
 */
export async function runTokenCommand(
  command: string,
  io: Pick<Io, "env" | "stderr">,
  signal: AbortSignal,
  limitMs = defaultLimitMs,
): Promise<string> {
  const fail = (problem: string, cause?: unknown): CommandError =>
    new CommandError("tokenRejected", `${describeCommand(command)} ${problem}`, { cause });
  // Loading it takes 3 ms, which most commands do not need.
  const { spawn } = await import("node:child_process");
  signal.throwIfAborted();
  const child = start(() => {
    const [program = "", ...args] = splitCommand(command);
    return spawn(program, args, { env: { ...io.env }, stdio: ["ignore", "pipe", "pipe"] });
  }, fail);
  const output = await readOutput(child, io.stderr, signal, { limitMs, fail });
  const line = new TextDecoder().decode(output).replace(/\r?\n$/, "");
  const advice = "it must print only the token, in one line";
  if (line === "") throw fail(`printed nothing: ${advice}`);
  if (line.includes("\n")) throw fail(`printed more than one line: ${advice}`);
  if (/\p{Cc}/u.test(line)) throw fail(`printed control characters: ${advice}`);
  return line;
}

interface RunOptions {
  readonly limitMs: number;
  readonly fail: (problem: string, cause?: unknown) => CommandError;
}

function readOutput(
  child: ChildProcessByStdio<null, Readable, Readable>,
  stderr: OutputStream,
  signal: AbortSignal,
  { limitMs, fail }: RunOptions,
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  let release = (): void => {};
  const ended = new Promise<Uint8Array>((resolve, reject) => {
    const stop = (error: Error): void => {
      reject(error);
      child.kill("SIGKILL");
      // Processes that it started may keep the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const onAbort = (): void => stop(signal.reason as Error);
    const timer = setTimeout(() => stop(fail(`did not end within ${limitMs / 1000} s`)), limitMs);
    signal.addEventListener("abort", onAbort);
    release = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxOutputBytes) stop(fail(`printed more than ${maxOutputBytes} bytes`));
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      void writeText(stderr, text).catch(() => {
        // Nothing is left to report a closed stderr to.
      });
    });
    child.once("error", (error) => reject(fail(describeStart(error), error)));
    child.once("close", (code, signalName) => {
      const end = signalName ?? `exit code ${code}`;
      if (code === 0) resolve(Buffer.concat(chunks));
      else reject(fail(`failed with ${end}: run it yourself to see the reason`));
    });
  });
  return ended.finally(release);
}

/** @throws CommandError for an edited file with an invalid command, and for a path such as /etc/passwd/x */
function start<Child>(spawn: () => Child, fail: RunOptions["fail"]): Child {
  try {
    return spawn();
  } catch (error) {
    if (error instanceof InvalidValue) throw fail(error.message, error);
    if (error instanceof Error && "code" in error) throw fail(describeStart(error), error);
    throw error;
  }
}

function describeStart(error: Error): string {
  if ("code" in error && error.code === "ENOENT") {
    return 'was not found: install the program, or run "plantstore login" again';
  }
  return `can't be run (${toSystemReason(error)}): check its path`;
}
