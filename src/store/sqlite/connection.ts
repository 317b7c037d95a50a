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
import { createFileGuard } from "./log-file.ts";
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
export async function openConnection(target: ConnectionTarget): Promise<Connection> {
  const { realPath, access } = target;
  const provider = await loadSqlite();
  const database =
    access === "read"
      ? openDatabaseToRead(provider, realPath)
      : openDatabase(provider, realPath, { upgrades: access === "first" });
  try {
    return createConnection(database, target);
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Creates a connection on an open database, which it owns from then on.
 */
export function createConnection(database: SqliteDatabase, target: ConnectionTarget) {
  const { path, access } = target;
  // Held together with the database by the closures below. Statements do not keep it alive.
  const statements = prepareStatements(database);
  // From now on, `whileLocked` waits.
  database.exec("PRAGMA busy_timeout = 0");
  let isOpen = true;
  const recordCheck = (): void => void statements.recordCheck.run(BigInt(Date.now()));
  const files =
    access === "read"
      ? undefined
      : createFileGuard(target, {
          write: () => whileLocked(recordCheck),
          findSize: () => findSize(database),
        });

  /** Makes a change, again while others hold a lock, and checks that it is in the files. */
  function write<T>(change: () => T): T {
    const run = (): T => whileLocked(change);
    return files === undefined ? run() : files.change(run);
  }

  return {
    commit: (requests: PackedRequests): readonly CreateResult[] =>
      write(() => inTransaction(database, () => createAll(statements, requests))),
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
    delete: (ids: readonly bigint[]): readonly bigint[] => {
      const deleted = write(() => {
        // From now on, deleted text is overwritten in the database; the checkpoint removes it from the log.
        database.exec("PRAGMA secure_delete = ON");
        return inTransaction(database, () =>
          ids.filter((id) => Number(statements.deletePlant.run(id).changes) === 1),
        );
      });
      whileLocked(() => checkpointWithoutReaders(database, "TRUNCATE"));
      return deleted;
    },
    checkWritable: (): void => write(recordCheck),
    addToken: (token: TokenRecord): void => write(() => insertToken(statements, token)),
    listTokens: (): readonly TokenRecord[] => whileLocked(() => listTokens(statements)),
    readTokens: (knownVersion: string | undefined): TokenState =>
      whileLocked(() => readTokens(statements, knownVersion)),
    endToken: (token: EndedToken): void => write(() => endToken(statements, token)),
    removeTokens: (digests: readonly string[]): void =>
      write(() =>
        inTransaction(database, () => {
          for (const digest of digests) statements.removeToken.run(toSqlText(digest));
        }),
      ),
    noteTokenUses: (digests: readonly string[], day: number): void =>
      write(() => {
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
    checkpoint: (): number => {
      files?.assertBeforeCheckpoint();
      return whileLocked(() => Number(runCheckpoint(database, "PASSIVE").log));
    },
    /**
     * Copies all commits, so that the next commit starts the log again. Waits for readers, while commits wait for it.
     *
     * @returns false if a reader took too long
     */
    restartLog: (): boolean => {
      files?.assertBeforeCheckpoint();
      return whileLocked(() => checkpointWithoutReaders(database, "RESTART"));
    },
    close: (): void =>
      whileLocked(() => {
        if (!isOpen) return;
        isOpen = false;
        database.close();
        files?.close();
      }),
  };
}

/** Returns the size of a database after its latest commit, in bytes, wherever its pages are. */
function findSize(database: SqliteDatabase): number {
  const [pages, bytes] = ["page_count", "page_size"].map((name) => {
    const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, number | bigint>;
    return Number(row[name]);
  });
  return (pages ?? 0) * (bytes ?? 0);
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
