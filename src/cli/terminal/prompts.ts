/** Asks a user on the terminal: a question with yes or no, or for a secret. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { escapeUnprintable, redactTokens } from "../../core/messages.ts";
import { CommandError, Interruption } from "../command-error.ts";
import { type Io, writeText } from "../io.ts";

/** Checks whether a user is there to answer. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks on stderr, and reads a line from the terminal. @returns true for `y` or `yes`, in any case */
export async function confirm(question: string, io: Io, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  await writeText(io.stderr, escapeUnprintable(redactTokens(question)));
  const lines = createInterface({ input: io.stdin, signal });
  // Ends without a line after Ctrl-D, and once the signal is aborted.
  const iterator: AsyncIterator<string, undefined, undefined> = lines[Symbol.asyncIterator]();
  const { done, value = "" } = await iterator.next();
  lines.close();
  // After Ctrl-D, the cursor is still behind the question. A signal has moved it already.
  if (done && !signal.aborted) await writeText(io.stderr, "\n");
  signal.throwIfAborted();
  return /^\s*y(?:es)?\s*$/i.test(value);
}

/** Asks for a line that the terminal does not show. It shows typed text again afterwards, even after an error. */
export async function askSecret(question: string, io: Io, signal: AbortSignal): Promise<string> {
  const screen = [io.stderr, io.stdout].find(({ isTTY }) => isTTY) ?? io.stderr;
  const prompt = redactTokens(question);
  signal.throwIfAborted();
  // Before the question: the echo has to be off when the user types. What readline shows is discarded.
  const lines = createInterface({
    input: io.stdin,
    output: new Writable({ write: (_chunk, _encoding, done) => done() }),
    terminal: true,
    historySize: 0,
  });
  const line = new Promise<string>((resolve, reject) => {
    lines.once("line", resolve);
    // After Ctrl-Z readline stays paused, and the process would end. The line begins again: the user can't see what was
    // typed before.
    lines.on("SIGCONT", () => {
      lines.write(null, { ctrl: true, name: "e" });
      lines.write(null, { ctrl: true, name: "u" });
      lines.resume();
      void writeText(screen, prompt).catch(reject);
    });
    lines.once("SIGINT", () => {
      reject(new Interruption("SIGINT", "nothing was saved"));
    });
    lines.once("close", () => {
      reject(new CommandError("tokenRejected", "no token was typed"));
    });
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  try {
    const [secret] = await Promise.all([line, writeText(screen, prompt)]);
    return secret;
  } finally {
    lines.close();
    if (!signal.aborted) await writeText(screen, "\n");
  }
}
