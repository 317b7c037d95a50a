/**
 * Text on its way to SQLite and back as bytes, because as a string it is cut at the first NUL. The statement turns them
 * around: `CAST(? AS TEXT)` in, `CAST(column AS BLOB)` out.
 */

const encoder = new TextEncoder();
// Without ignoreBOM a U+FEFF at the beginning of a text would be dropped.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A text for `CAST(? AS TEXT)`. The empty one stays a string: Node 22 binds empty bytes as NULL. */
export function toSqlText(text: string): Uint8Array | string {
  return text === "" ? text : encoder.encode(text);
}

/** A text out of `CAST(column AS BLOB)`. */
export function fromSqlText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
