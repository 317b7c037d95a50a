/**
 * Text on its way to SQLite, and back as bytes: some providers cut a string at its first NUL on either way. The statement
 * turns bytes around: `CAST(? AS TEXT)` in, `CAST(column AS BLOB)` out.
 */

const encoder = new TextEncoder();
// Without ignoreBOM a U+FEFF at the beginning of a text would be dropped.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A text for `CAST(? AS TEXT)`. Bytes only where they have to be: with them an insert takes half as long again, and Node
 * 22 binds empty ones as NULL.
 */
export function toSqlText(text: string): Uint8Array | string {
  return text.includes("\0") ? encoder.encode(text) : text;
}

/** A text out of `CAST(column AS BLOB)`. */
export function fromSqlText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
