/** Reads plants and the feed in pages: sizes and cursors. */
import { quoteInput } from "../core/messages.ts";
import { type NewPlant, toTextLength } from "../core/plant.ts";
import type { PlantQuery, StoreError, StoreReader } from "../core/store.ts";
import { createStoreError, unusable } from "./store-failure.ts";

/** Size at which an engine ends a page; plants before the one that reaches it are smaller together. */
export const maxPageSize = 2 ** 20;

/** Share of a plant in the size of its page, besides its text: about what its objects take in memory. */
export const plantSize = 512;

/** An engine measures text in UTF-16 code units, or in bytes as the database stores it: at most 6 for each unit. */
const maxUnitBytes = 6;

/** Returns the size of a plant in a page, with its text in UTF-16 code units. @param plant undefined if it was deleted */
export function toPageSize(plant: NewPlant | undefined): number {
  return plantSize + (plant === undefined ? 0 : toTextLength(plant));
}

/** Checks whether a page with fewer plants than its limit may have ended by its size. */
export function mayContinue(page: readonly (NewPlant | undefined)[]): boolean {
  const size = page.reduce((sum, plant) => sum + toPageSize(plant), 0);
  return size * maxUnitBytes >= maxPageSize;
}

/**
 * Reads the plants of a query in the order of their ids, each once, including every plant that exists at the start. One page
 * is in memory while the next one is read. No page is empty.
 */
export async function* readPlantPages(
  store: Pick<StoreReader, "list">,
  query: PlantQuery,
): AsyncGenerator<readonly NewPlant[], void, undefined> {
  let { afterId, limit: left } = query;
  let next: Promise<readonly NewPlant[]> | undefined = store.list(query);
  while (next !== undefined) {
    const page: readonly NewPlant[] = await next;
    if (page.length === 0) return;
    afterId = page.at(-1)?.id;
    left -= page.length;
    next = undefined;
    if (left > 0 && mayContinue(page)) {
      next = store.list({ ...query, afterId, limit: left });
      // A caller that stops here never sees its failure.
      next.catch(() => undefined);
    }
    yield page;
  }
}

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
