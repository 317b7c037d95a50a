/** Asks a question that the user answers with yes or no. */
import { createInterface } from "node:readline";
import { type Io, writeText } from "../io.ts";

/** Checks whether a user is there to answer. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * Prints a question on stderr and reads a line from the terminal.
 *
 * @returns true for `y` or `yes`, in any case
 * @throws the signal's reason, once it is aborted
 */
export async function confirm(question: string, io: Io, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  const lines = createInterface({ input: io.stdin });
  const answer = { isTyped: false };
  try {
    const line = new Promise<string>((resolve, reject) => {
      lines.once("line", (text) => {
        answer.isTyped = true;
        resolve(text);
      });
      lines.once("close", () => resolve(""));
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    const [typed] = await Promise.all([line, writeText(io.stderr, question)]);
    return /^\s*y(?:es)?\s*$/i.test(typed);
  } finally {
    lines.close();
    // After Ctrl-C and Ctrl-D, the cursor is still behind the question.
    if (!answer.isTyped) await writeText(io.stderr, "\n");
  }
}
