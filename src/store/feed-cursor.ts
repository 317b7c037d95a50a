/** Cursors of a feed. A cursor names its store, so that it is not used on another one by mistake. */
import { quoteInput } from "../core/quote.ts";
import type { StoreError } from "../core/store.ts";
import { createStoreError, unusable } from "./store-failure.ts";

const pattern = /^([0-9a-f]{16})-(.+)$/;

/**
 * Formats a cursor.
 *
 * @param storeId 16 lower-case hexadecimal digits, random for each store
 * @param position of the engine, on one line
 */
export function toCursor(storeId: string, position: string): string {
  return `${storeId}-${position}`;
}

/**
 * Parses a cursor of a store.
 *
 * @param place of the store, for messages
 * @returns the position, which the engine has to parse
 * @throws StoreError `unusable` for a malformed cursor, and for a cursor of another store
 */
export function parseCursor(cursor: string, storeId: string, place: string): string {
  const [, cursorStoreId, position] = pattern.exec(cursor) ?? [];
  if (position === undefined) throw createMalformedCursorError(cursor, place);
  if (cursorStoreId === storeId) return position;
  throw createCursorError(
    cursor,
    "it belongs to another store. Name that store, or leave out the cursor to begin with the first plant",
    place,
  );
}

/** Creates the error for a cursor that no store has printed. */
export function createMalformedCursorError(cursor: string, place: string): StoreError {
  return createCursorError(
    cursor,
    'it is malformed. Copy the member "cursor" of a line of "plantstore export --follow"',
    place,
  );
}

/** Creates the error for a cursor after the last entry of its store. */
export function createCursorAheadError(cursor: string, place: string): StoreError {
  return createCursorError(
    cursor,
    "it is ahead of the store, as after a backup was restored. Leave out the cursor to begin with the first plant",
    place,
  );
}

function createCursorError(cursor: string, problem: string, place: string): StoreError {
  return createStoreError(
    unusable(`does not accept the cursor "${quoteInput(cursor, 60)}": ${problem}`),
    place,
  );
}
