/**
 * Converts text for SQLite. Some providers truncate a string at its first NUL, in both directions. Statements therefore
 * convert bytes: `CAST(? AS TEXT)` for values, `CAST(column AS BLOB)` for results. Text without NUL needs no bytes, which
 * take twice as long.
 */
import { attempt } from "../../core/attempt.ts";

/** A text in a row. */
export type StoredText = Uint8Array | string;

const encoder = new TextEncoder();
// Without ignoreBOM, a U+FEFF at the beginning of a text would be dropped.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Converts a text for `CAST(? AS TEXT)`; undefined becomes NULL. Only text with a NUL becomes bytes, because they make an
 * insert 50 % slower. Node 22: empty bytes are bound as NULL.
 */
export function toSqlText(text: string | undefined): Uint8Array | string | null {
  if (text === undefined) return null;
  return text.includes("\0") ? encoder.encode(text) : text;
}

/** Returns the SQL of a column for {@link fromSqlText}. */
export function selectText(column: string): string {
  return `CASE WHEN instr(${column}, char(0)) THEN CAST(${column} AS BLOB) ELSE ${column} END AS ${column}`;
}

/** Converts the result of {@link selectText}. */
export function fromSqlText(text: StoredText): string {
  return typeof text === "string" ? text : decoder.decode(text);
}

/** Checks whether a result of `CAST(column AS BLOB)` is text in UTF-8. */
export function isSqlText(value: unknown): boolean {
  return value instanceof Uint8Array && attempt(() => strictDecoder.decode(value)) !== undefined;
}
