/** JSON on stdout: each value is one line, so that many of them are NDJSON. */
import { escapeUnprintable } from "../../core/quote.ts";
import { type OutputStream, writeText } from "../io.ts";

/**
 * Prints JSON texts, each as a line, and waits until they are out. A program gets every character as it is; a terminal
 * gets those that it would obey as escapes, which JSON has too.
 *
 * @throws OutputError
 */
export async function printJson(stdout: OutputStream, texts: readonly string[]): Promise<void> {
  const lines = texts.map((json) => `${stdout.isTTY ? escapeUnprintable(json) : json}\n`);
  await writeText(stdout, lines.join(""));
}
