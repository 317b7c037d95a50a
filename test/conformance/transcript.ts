/** Bytes of a connection as text, without the token. */
import { escapeUnprintable, redactTokens } from "../../src/core/messages.ts";

const redacted = "<ACCESS_TOKEN>";
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Replaces the token, also in other letters: rules send it so. */
function redact(text: string, token: string): string {
  const pattern = token.replaceAll(/[^\w]/g, String.raw`\$&`);
  return redactTokens(text.replaceAll(new RegExp(pattern, "gi"), redacted));
}

/** Bytes without the token, as text if they are UTF-8. */
export function toRedactedText(bytes: Buffer, token: string): string | Buffer {
  const latin1 = redact(bytes.toString("latin1"), token);
  // An ellipsis has no Latin-1 byte.
  const safe = Buffer.from(latin1.replaceAll("\u2026", "..."), "latin1");
  try {
    return decoder.decode(safe);
  } catch {
    return safe;
  }
}

/** A text from a server for a message: one line, without the token, cut to `maxLength` characters. */
export function toSafeLine(text: string, token: string, maxLength = 500): string {
  const safe = escapeUnprintable(redact(text, token));
  return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength)}…`;
}

const names: Readonly<Record<string, string>> = {
  "\\": String.raw`\\`,
  "\r": String.raw`\r`,
  "\n": String.raw`\n`,
  "\t": String.raw`\t`,
};

/**
 * Bytes as lines of printable text: control characters and bytes that are not UTF-8 are escaped, as in a string of C.
 *
 * @param maxBytes the bytes after these are counted, and not shown
 */
export function toEscapedLines(bytes: Buffer, token: string, maxBytes: number): readonly string[] {
  const read = toRedactedText(bytes, token);
  const text = typeof read === "string" ? read : read.toString("latin1");
  const isUtf8 = typeof read === "string";
  const cut = text.slice(0, maxBytes).replace(/[\uD800-\uDBFF]$/, "");
  const escaped = cut.replace(
    // eslint-disable-next-line no-control-regex -- Control characters are what is escaped.
    isUtf8 ? /[\\\u0000-\u001F\u007F]/g : /[\\\u0000-\u001F\u007F-\u00FF]/g,
    (character) =>
      names[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  const lines = escapeUnprintable(escaped)
    .split(/(?<=\\n)/)
    .filter((line) => line !== "");
  if (cut.length < text.length) lines.push(`… (${bytes.length} bytes in all)`);
  return lines.length === 0 ? ["(nothing)"] : lines;
}
