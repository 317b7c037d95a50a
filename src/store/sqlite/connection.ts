/** What is done on a connection to a database: everything that SQLite is asked for, in the terms of the store. */
import { int64Max, int64Min } from "../../core/int64.ts";
import type { NewPlant } from "../../core/plant.ts";
import type { CreateRequest, CreateResult, StoreEngine, TokenRecord } from "../../core/store.ts";
import { openDatabase } from "./database.ts";
import { toStoreError } from "./failure.ts";
import { watchDatabaseFile } from "./file-in-use.ts";
import { whileBusy } from "./lock-wait.ts";
import { loadSqlite, type SqliteDatabase } from "./provider.ts";
import {
  type ListedPlantRow,
  type PlantRow,
  prepareStatements,
  type TokenRow,
} from "./statements.ts";
import { fromSqlText, toSqlText } from "./text.ts";
import { inTransaction } from "./transaction.ts";

/** An engine, and what SQLite would otherwise do in the middle of its commits. */
export interface Connection extends Omit<StoreEngine, "maxCommits"> {
  /**
   * Copies commits from the write-ahead log into the database file, up to what others read or write at the moment.
   *
   * @returns how long the log is, in pages
   */
  checkpoint(): Promise<number>;
  /**
   * Does so with all of them, so that the next commit begins the log anew. Waits for those who read at the moment, and
   * commits wait for it.
   *
   * @returns whether it was done; not when somebody reads for long
   */
  restartLog(): Promise<boolean>;
}

/** How long commits wait for somebody who reads; clients wait ten times as long. */
const restartTimeoutMs = 1000;

/**
 * Connects to a database; an empty file becomes one.
 *
 * @param path absolute
 * @param identity of the file that it has to be
 * @throws StoreError
 */
export async function openConnection(path: string, identity: string): Promise<Connection> {
  const provider = await loadSqlite();
  let database: SqliteDatabase | undefined;
  try {
    database = await openDatabase(provider, path);
    return createConnection(database, path, watchDatabaseFile(path, identity));
  } catch (error) {
    database?.close();
    throw toStoreError(error, path);
  }
}

/**
 * A connection on an open database, which it owns from then on.
 *
 * @param path for messages
 * @param checkPlace throws before anything is written that should not be; by default everything may
 */
export function createConnection(
  database: SqliteDatabase,
  path: string,
  checkPlace: () => void = () => {},
): Connection {
  // Held together with the database, by the closures below: alone they would not keep it alive.
  const statements = prepareStatements(database);
  // From now on `whileBusy` waits.
  database.exec("PRAGMA busy_timeout = 0");
  let isOpen = true;

  async function attempt<T>(work: () => T): Promise<T> {
    try {
      return await whileBusy(work);
    } catch (error) {
      throw toStoreError(error, path);
    }
  }

  function create({ plant, onConflict }: CreateRequest): CreateResult {
    const { id } = plant;
    const name = toSqlText(plant.name);
    const tag = plant.tag === undefined ? null : toSqlText(plant.tag);
    if (Number(statements.insertPlant.run(id, name, tag).changes) === 1) return "created";
    if (statements.findSamePlant.get(id, name, tag) !== undefined) return "unchanged";
    if (onConflict === "reject") return "conflict";
    statements.replacePlant.run(name, tag, id);
    return "replaced";
  }

  function runCheckpoint(mode: "PASSIVE" | "RESTART"): CheckpointRow {
    return database.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as CheckpointRow;
  }

  return {
    commit: (requests) =>
      attempt(() => {
        checkPlace(); // 3 of 380 µs.
        return inTransaction(database, () => requests.map(create));
      }),
    get: (id) =>
      attempt(() => {
        const row = statements.findPlant.get(id) as PlantRow | undefined;
        return row && toPlant(id, row);
      }),
    list: ({ afterId, tag, limit }) =>
      attempt(() => {
        if (afterId === int64Max) return [];
        const fromId = afterId === undefined ? int64Min : afterId + 1n;
        const tagText = tag === undefined ? null : toSqlText(tag);
        const rows = statements.listPlants.all(fromId, tagText, BigInt(limit));
        return (rows as ListedPlantRow[]).map((row) => toPlant(row.id, row));
      }),
    checkWritable: () =>
      attempt(() => {
        checkPlace();
        statements.recordCheck.run(BigInt(Date.now()));
      }),
    addToken: (token) =>
      attempt(() => {
        checkPlace();
        statements.insertToken.run(
          toSqlText(token.digest),
          toSqlText(token.prefix),
          toSqlText(token.name),
          BigInt(token.issuedAtMs),
          toSqlInteger(token.expiresAtMs),
          toSqlInteger(token.revokedAtMs),
          toSqlInteger(token.lastUsedDay),
        );
      }),
    listTokens: () =>
      attempt(() => (statements.listTokens.all() as TokenRow[]).map((row) => toToken(row))),
    revokeToken: (digest, revokedAtMs) =>
      attempt(() => {
        checkPlace();
        statements.revokeToken.run(BigInt(revokedAtMs), toSqlText(digest));
      }),
    noteTokenUses: (digests, day) =>
      attempt(() => {
        // Not flushed: nobody is promised it, and commits wait for whoever writes.
        database.exec("PRAGMA synchronous = NORMAL");
        try {
          inTransaction(database, () => {
            for (const digest of digests) {
              statements.noteTokenUse.run(BigInt(day), toSqlText(digest));
            }
          });
        } finally {
          database.exec("PRAGMA synchronous = FULL");
        }
      }),
    checkpoint: () => attempt(() => Number(runCheckpoint("PASSIVE").log)),
    restartLog: () =>
      attempt(() => {
        // Only SQLite itself can keep the log as it is while it waits.
        database.exec(`PRAGMA busy_timeout = ${restartTimeoutMs}`);
        try {
          return Number(runCheckpoint("RESTART").busy) === 0;
        } finally {
          database.exec("PRAGMA busy_timeout = 0");
        }
      }),
    close: () =>
      attempt(() => {
        if (!isOpen) return;
        isOpen = false;
        database.close();
      }),
  };
}

/** What `PRAGMA wal_checkpoint` answers (https://sqlite.org/pragma.html#pragma_wal_checkpoint). */
interface CheckpointRow {
  /** 1 when it could not be completed because of others. */
  readonly busy: number | bigint;
  /** Pages in the log. */
  readonly log: number | bigint;
}

function toPlant(id: bigint, { name, tag }: PlantRow): NewPlant {
  const plant = { id, name: fromSqlText(name) };
  return tag === null ? plant : { ...plant, tag: fromSqlText(tag) };
}

function toToken(row: TokenRow): TokenRecord {
  return {
    digest: fromSqlText(row.digest),
    prefix: fromSqlText(row.prefix),
    name: fromSqlText(row.name),
    issuedAtMs: Number(row.issued_at),
    expiresAtMs: fromSqlInteger(row.expires_at),
    revokedAtMs: fromSqlInteger(row.revoked_at),
    lastUsedDay: fromSqlInteger(row.last_used_day),
  };
}

function toSqlInteger(value: number | undefined): bigint | null {
  return value === undefined ? null : BigInt(value);
}

function fromSqlInteger(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
