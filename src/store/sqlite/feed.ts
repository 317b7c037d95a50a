/** Reads the feed: the plants from before the feed in the order of their ids, then all others in the order of their commits. */
import { int64Max, int64Min } from "../../core/int64.ts";
import type { FeedQuery } from "../../core/store.ts";
import {
  createCursorAheadError,
  createMalformedCursorError,
  parseCursor,
  toCursor,
} from "../feed-cursor.ts";
import type { PackedFeed } from "./packing.ts";
import type { FeedRow, Statements } from "./statements.ts";
import { fromSqlText } from "./text.ts";

/** A position in the feed: `seq`, or `old:ID` for a plant from before the feed. */
interface Position {
  readonly seq: bigint;
  /** First id to read of the plants from before the feed; undefined if they were all read. */
  readonly oldFromId: bigint | undefined;
}

const start: Position = { seq: 0n, oldFromId: int64Min };

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
  const { store_id: storeId, old_max_id: oldMaxId } = statements.findFeed.get() as {
    readonly store_id: string;
    readonly old_max_id: bigint | null;
  };
  const { seq, oldFromId } =
    after === undefined ? start : parsePosition(parseCursor(after, storeId, place), after, place);
  const rows =
    oldFromId === undefined || oldMaxId === null
      ? []
      : (statements.readOldPlants.all(oldFromId, oldMaxId, BigInt(limit)) as FeedRow[]);
  if (rows.length < limit) {
    rows.push(...(statements.readFeed.all(seq, seq, BigInt(limit - rows.length)) as FeedRow[]));
  }
  if (after !== undefined && rows.length === 0) {
    const { seq: lastSeq } = statements.findLastSeq.get() as { readonly seq: bigint };
    if (seq > lastSeq) throw createCursorAheadError(after, place);
  }
  return {
    ids: BigInt64Array.from(rows, ({ id }) => id),
    cursors: rows.map((row) =>
      toCursor(storeId, row.seq === null ? `old:${row.id}` : `${row.seq}`),
    ),
    names: rows.map(({ name }) => toText(name)),
    tags: rows.map(({ tag }) => toText(tag)),
  };
}

function parsePosition(position: string, cursor: string, place: string): Position {
  const isOld = position.startsWith("old:");
  const digits = isOld ? position.slice("old:".length) : position;
  const number = /^(?:0|-?[1-9]\d{0,18})$/.test(digits) ? BigInt(digits) : undefined;
  if (number === undefined || number < (isOld ? int64Min : 1n) || number > int64Max) {
    throw createMalformedCursorError(cursor, place);
  }
  if (!isOld) return { seq: number, oldFromId: undefined };
  return { seq: 0n, oldFromId: number === int64Max ? undefined : number + 1n };
}

function toText(bytes: Uint8Array | null): string | undefined {
  return bytes === null ? undefined : fromSqlText(bytes);
}
