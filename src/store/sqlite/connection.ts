/** Operations of the store on a connection to a database. */
import type { NewPlant } from "../../core/plant.ts";
import type {
  CreateResult,
  EndedToken,
  FeedQuery,
  PlantFilter,
  PlantQuery,
  TokenRecord,
  TokenState,
} from "../../core/store.ts";
import { createAll } from "./creates.ts";
import type { StoreFile } from "./database-file.ts";
import { openDatabase, openDatabaseToRead } from "./database.ts";
import { createDamageError } from "./sqlite-error.ts";
import { readFeed } from "./feed.ts";
import {
  type PackedFeed,
  type PackedPlants,
  type PackedRequests,
  packPlants,
  type PlantRow,
  readPage,
  toFilterValues,
  toStoredPlant,
} from "./plants.ts";
import { loadSqlite, type SqliteDatabase } from "./provider.ts";
import { prepareStatements } from "./statements.ts";
import { toSqlText } from "./text.ts";
import { endToken, insertToken, listTokens, readTokens } from "./tokens.ts";
import { inTransaction, whileLocked } from "./transaction.ts";

/** File to connect to. */
export interface ConnectionTarget extends StoreFile {
  /**
   * - `read`: for a store reader
   * - `first`: the first connection of an engine, which upgrades the schema
   * - `further`: any other connection of the engine. A newer server may have upgraded the schema since
   */
  readonly access: "read" | "first" | "further";
}

/**
 * Operations of the store (see StoreEngine and StoreReader), and those that SQLite would otherwise do in the middle of
 * commits.
 */
export type Connection = ReturnType<typeof createConnection>;

/** Time that commits wait for a reader; clients wait ten times as long. */
const restartTimeoutMs = 1000;

/**
 * Connects to a database.
 *
 * @throws StoreError or an error of SQLite, as its methods do
 */
export async function openConnection({
  path,
  realPath,
  access,
}: ConnectionTarget): Promise<Connection> {
  const provider = await loadSqlite();
  const database =
    access === "read"
      ? openDatabaseToRead(provider, realPath)
      : openDatabase(provider, realPath, { upgrades: access === "first" });
  try {
    return createConnection(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Creates a connection on an open database, which it owns from then on.
 *
 * @param path for messages
 */
export function createConnection(database: SqliteDatabase, path: string) {
  // Held together with the database by the closures below. Statements do not keep it alive.
  const statements = prepareStatements(database);
  // From now on, `whileLocked` waits.
  database.exec("PRAGMA busy_timeout = 0");
  let isOpen = true;

  return {
    commit: (requests: PackedRequests): readonly CreateResult[] =>
      whileLocked(() => inTransaction(database, () => createAll(statements, requests))),
    get: (id: bigint): NewPlant | undefined =>
      whileLocked(() => {
        const row = statements.findPlant.get(id) as PlantRow | undefined;
        return row && toStoredPlant(row);
      }),
    list: ({ limit, ...filter }: PlantQuery): PackedPlants =>
      whileLocked(() => {
        const rows = statements.listPlants.iterate(...toFilterValues(filter));
        return packPlants(readPage(rows as Iterable<PlantRow>, limit).plants);
      }),
    count: (filter: PlantFilter): number =>
      whileLocked(() => {
        const row = statements.countPlants.get(...toFilterValues(filter));
        return Number((row as { count: bigint }).count);
      }),
    readFeed: (query: FeedQuery): PackedFeed =>
      whileLocked(() => readFeed(statements, query, path)),
    /** @returns the ids that were deleted */
    delete: (ids: readonly bigint[]): readonly bigint[] =>
      whileLocked(() => {
        // From now on, deleted text is overwritten in the database; the checkpoint removes it from the log.
        database.exec("PRAGMA secure_delete = ON");
        const deleted = inTransaction(database, () =>
          ids.filter((id) => Number(statements.deletePlant.run(id).changes) === 1),
        );
        checkpointWithoutReaders(database, "TRUNCATE");
        return deleted;
      }),
    checkWritable: (): void =>
      whileLocked(() => void statements.recordCheck.run(BigInt(Date.now()))),
    addToken: (token: TokenRecord): void => whileLocked(() => insertToken(statements, token)),
    listTokens: (): readonly TokenRecord[] => whileLocked(() => listTokens(statements)),
    readTokens: (knownVersion: string | undefined): TokenState =>
      whileLocked(() => readTokens(statements, knownVersion)),
    endToken: (token: EndedToken): void => whileLocked(() => endToken(statements, token)),
    removeTokens: (digests: readonly string[]): void =>
      whileLocked(() =>
        inTransaction(database, () => {
          for (const digest of digests) statements.removeToken.run(toSqlText(digest));
        }),
      ),
    noteTokenUses: (digests: readonly string[], day: number): void =>
      whileLocked(() => {
        // Not flushed: its durability is not promised, and commits wait for a transaction that writes.
        database.exec("PRAGMA synchronous = NORMAL");
        try {
          inTransaction(database, () => {
            for (const digest of digests) {
              statements.noteTokenUse.run(BigInt(day), toSqlText(digest), BigInt(day));
            }
          });
        } finally {
          database.exec("PRAGMA synchronous = FULL");
        }
      }),
    /** Searches all of the database for damage, except the order of the indexes. */
    checkSoundness: (): void =>
      whileLocked(() => {
        // https://sqlite.org/pragma.html#pragma_quick_check
        const row = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
        if (row.quick_check !== "ok") throw createDamageError(path, row.quick_check);
      }),
    /**
     * Copies commits from the write-ahead log into the database, except those that others read or write at the moment.
     *
     * @returns length of the log in pages
     */
    checkpoint: (): number => whileLocked(() => Number(runCheckpoint(database, "PASSIVE").log)),
    /**
     * Copies all commits, so that the next commit starts the log again. Waits for readers, while commits wait for it.
     *
     * @returns false if a reader took too long
     */
    restartLog: (): boolean => whileLocked(() => checkpointWithoutReaders(database, "RESTART")),
    close: (): void =>
      whileLocked(() => {
        if (!isOpen) return;
        isOpen = false;
        database.close();
      }),
  };
}

/** Row of `PRAGMA wal_checkpoint` (https://sqlite.org/pragma.html#pragma_wal_checkpoint). */
interface CheckpointRow {
  /** 1 if others prevented its completion. */
  readonly busy: number | bigint;
  /** Pages in the log. */
  readonly log: number | bigint;
}

/** Copies all of the log into the database. @returns false if a reader took too long */
function checkpointWithoutReaders(database: SqliteDatabase, mode: "RESTART" | "TRUNCATE"): boolean {
  // Only SQLite itself can prevent new commits while it waits.
  database.exec(`PRAGMA busy_timeout = ${restartTimeoutMs}`);
  try {
    return Number(runCheckpoint(database, mode).busy) === 0;
  } finally {
    database.exec("PRAGMA busy_timeout = 0");
  }
}

function runCheckpoint(
  database: SqliteDatabase,
  mode: "PASSIVE" | "RESTART" | "TRUNCATE",
): CheckpointRow {
  return database.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as CheckpointRow;
}
