/** Reads the feed: plants and deleted ids, in the order of their commits. */
import { int64Max } from "../../core/int64.ts";
import type { FeedQuery } from "../../core/store.ts";
import {
  createCursorAheadError,
  createMalformedCursorError,
  parseCursor,
  toCursor,
} from "../feed-cursor.ts";
import { type FeedRow, type PackedFeed, packPlants, readPage } from "./plants.ts";
import type { Statements } from "./statements.ts";

/**
 * Reads the next entries. It needs no transaction, because plants and deletions only ever move to the end.
 *
 * @param place of the store, for messages
 * @throws StoreError `unusable` for a cursor that is not of this store
 */
export function readFeed(
  statements: Statements,
  { after, limit }: FeedQuery,
  place: string,
): PackedFeed {
  const { store_id: storeId } = statements.findFeed.get() as { readonly store_id: string };
  const seq = after === undefined ? 0n : toSeq(parseCursor(after, storeId, place), after, place);
  const found = statements.readFeed.iterate(seq, seq) as Iterable<FeedRow>;
  const { rows, plants } = readPage(found, limit);
  if (after !== undefined && rows.length === 0) {
    const { seq: lastSeq } = statements.findLastSeq.get() as { readonly seq: bigint };
    if (seq > lastSeq) throw createCursorAheadError(after, place);
  }
  return {
    ...packPlants(plants),
    cursors: rows.map((row) => toCursor(storeId, `${row.seq}`)),
    areDeleted: rows.map((row) => row.is_deleted === 1n),
  };
}

function toSeq(position: string, cursor: string, place: string): bigint {
  const seq = /^[1-9]\d{0,18}$/.test(position) ? BigInt(position) : undefined;
  if (seq === undefined || seq > int64Max) throw createMalformedCursorError(cursor, place);
  return seq;
}
