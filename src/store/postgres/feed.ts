/** Reads the feed: plants and deleted ids, in the order of the transactions that wrote them. */
import type { ClientBase } from "pg";
import { int64Max, int64Min } from "../../core/int64.ts";
import { type FeedEntry, type FeedQuery, StoreError } from "../../core/store.ts";
import {
  createCursorAheadError,
  createMalformedCursorError,
  parseCursor,
  toCursor,
} from "../feed-cursor.ts";
import {
  cutPage,
  deletedColumns,
  plantColumns,
  type PlantRow,
  toPageLimit,
  toStoredPlant,
} from "./statements.ts";

/** Place of an entry. Creates of one transaction were in flight together, so that their ids may order them. */
interface Position {
  readonly xid: bigint;
  readonly id: bigint;
}

const start: Position = { xid: 0n, id: int64Min };
const positionPattern = /^(\d{1,20})\.(-?\d{1,19})$/;

interface StateRow {
  readonly store_id: string;
  /** Greater than the id of every transaction that has ended. */
  readonly next_xid: string;
  readonly is_standby: boolean;
}

interface EntryRow extends PlantRow {
  readonly xid: string;
  readonly is_deleted: boolean;
}

/** The numbers of the cluster, the database and the table differ between a store and its copies, but not on a standby. */
const findState = `
  SELECT left(encode(sha256(convert_to(
      concat_ws(' ', system_identifier, pg_database.oid, 'plants'::regclass::oid), 'UTF8'
    )), 'hex'), 16) AS store_id,
    pg_snapshot_xmax(pg_current_snapshot()) AS next_xid, pg_is_in_recovery() AS is_standby
  FROM pg_control_system(), pg_database WHERE datname = current_database()`;

/** Stops at the oldest open transaction, so that no later commit is placed before an entry that was found. */
const findEntries = cutPage(
  `(SELECT ${plantColumns}, xid, false AS is_deleted FROM plants
    WHERE (xid, id) > ($1::xid8, $2::int8) AND xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY xid, id LIMIT $3)
  UNION ALL
  (SELECT ${deletedColumns}, xid, true FROM plantstore_deletions AS deletions
    WHERE (xid, id) > ($1::xid8, $2::int8) AND xid < pg_snapshot_xmin(pg_current_snapshot())
      AND NOT EXISTS (SELECT FROM plants WHERE plants.id = deletions.id)
    ORDER BY xid, id LIMIT $3)
  ORDER BY xid, id LIMIT $3`,
  "xid, id",
);

/**
 * Gives a transaction that only reads something to flush: its commit then waits until everything that it saw is flushed,
 * and confirmed by the synchronous standby. A standby cannot write, and has flushed everything that it shows.
 */
const logMessage = `SELECT CASE WHEN NOT pg_is_in_recovery()
  THEN pg_logical_emit_message(true, 'plantstore', '') END`;

/**
 * Reads the next entries.
 *
 * @param client in a transaction, which may be read-only
 * @param place of the store, for messages
 * @returns the error instead, if the cursor is not of this store
 */
export async function readFeed(
  client: ClientBase,
  { after, limit }: FeedQuery,
  place: string,
): Promise<readonly FeedEntry[] | StoreError> {
  const [state] = (await client.query<StateRow>(findState)).rows;
  if (state === undefined) throw new Error("the database has no name");
  const position = after === undefined ? start : toPosition(after, state, place);
  if (position instanceof StoreError) return position;
  const values = [`${position.xid}`, `${position.id}`, toPageLimit(limit)];
  const { rows } = await client.query<EntryRow>(findEntries, values);
  if (rows.length > 0) await client.query(logMessage);
  return rows.map((row) => {
    const plant = toStoredPlant(row);
    const entry = { cursor: toCursor(state.store_id, `${row.xid}.${row.id}`), id: plant.id };
    return row.is_deleted ? entry : { ...entry, plant };
  });
}

/** A standby may lag behind the server that returned the cursor. */
function toPosition(cursor: string, state: StateRow, place: string): Position | StoreError {
  try {
    const text = parseCursor(cursor, state.store_id, place);
    const [xid, id] = (positionPattern.exec(text) ?? []).slice(1).map(BigInt);
    if (
      xid === undefined ||
      id === undefined ||
      id < int64Min ||
      id > int64Max ||
      xid >= 2n ** 64n
    ) {
      return createMalformedCursorError(cursor, place);
    }
    const isAhead = xid >= BigInt(state.next_xid) && !state.is_standby;
    return isAhead ? createCursorAheadError(cursor, place) : { xid, id };
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
}
