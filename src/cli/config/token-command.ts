/** Runs a helper program that prints a token. */
import type { ExecFileException } from "node:child_process";
import { promisify } from "node:util";
import { quoteInput } from "../../core/quote.ts";
import { CommandError, toSystemReason } from "../command-error.ts";
import { InvalidValue } from "../../library/option-types.ts";
import { splitCommand } from "../command-words.ts";
import { type Io, writeText } from "../io.ts";

/** Enough to unlock a password store. */
const defaultLimitMs = 60_000;
/** Each for stdout and stderr. */
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
  const fail = (problem: string): CommandError =>
    new CommandError("tokenRejected", `${describeCommand(command)} ${problem}`);
  // Loading it takes 3 ms, which most commands do not need.
  const { execFile } = await import("node:child_process");
  signal.throwIfAborted();
  let output: Uint8Array;
  try {
    const [program = "", ...args] = splitCommand(command);
    const running = promisify(execFile)(program, args, {
      encoding: "buffer",
      env: { ...io.env },
      timeout: limitMs,
      killSignal: "SIGKILL",
      maxBuffer: maxOutputBytes,
      signal,
    });
    const { stdin, stderr } = running.child;
    stdin?.end();
    stderr?.setEncoding("utf8").on("data", (text: string) => {
      void writeText(io.stderr, text).catch(() => {
        // Nothing is left to report a closed stderr to.
      });
    });
    output = (await running).stdout;
  } catch (error) {
    signal.throwIfAborted();
    throw fail(describeFailure(error, limitMs));
  }
  const line = new TextDecoder().decode(output).replace(/\r?\n$/, "");
  const advice = "it must print only the token, in one line";
  if (line === "") throw fail(`printed nothing: ${advice}`);
  if (line.includes("\n")) throw fail(`printed more than one line: ${advice}`);
  if (/\p{Cc}/u.test(line)) throw fail(`printed control characters: ${advice}`);
  return line;
}

/** @throws the error itself, if it is a bug */
function describeFailure(error: unknown, limitMs: number): string {
  // An edited file may contain an invalid command.
  if (error instanceof InvalidValue) return error.message;
  if (!(error instanceof Error && "code" in error)) throw error;
  const { code, killed: isKilled, signal } = error as ExecFileException;
  if (code === "ENOENT") {
    return 'was not found: install the program, or save another command with "plantstore login --token-command"';
  }
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
    return `printed more than ${maxOutputBytes} bytes`;
  }
  if (typeof code === "string") return `cannot be run (${toSystemReason(error)}): check its path`;
  if (isKilled) return `did not end within ${limitMs / 1000} s`;
  return `failed with ${signal ?? `exit code ${code}`}: run it yourself to see the reason`;
}
