/**
 * Converts text for SQLite. Some providers truncate a string at its first NUL, in both directions. Statements therefore
 * convert bytes: `CAST(? AS TEXT)` for values, `CAST(column AS BLOB)` for results.
 */

const encoder = new TextEncoder();
// Without ignoreBOM, a U+FEFF at the beginning of a text would be dropped.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Converts a text for `CAST(? AS TEXT)`. Only text with a NUL becomes bytes, because they make an insert 50 % slower.
 * Node 22: empty bytes are bound as NULL.
 */
export function toSqlText(text: string): Uint8Array | string {
  return text.includes("\0") ? encoder.encode(text) : text;
}

/** Converts the result of `CAST(column AS BLOB)`. */
export function fromSqlText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
