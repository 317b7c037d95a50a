/** Opens databases with the settings that make their commits survive a power failure. */
import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { createStoreError, unusable } from "../store-failure.ts";
import { flushLog } from "../durable-files.ts";
import { isBusy, isUnwritable, isWriteFailure } from "./sqlite-error.ts";
import { assertCurrent, migrate, sqliteSchema } from "./migrations.ts";
import type { SqliteDatabase, SqliteProvider } from "./provider.ts";
import { whileLocked } from "./transaction.ts";

/**
 * Time that a statement waits inside SQLite for the lock of another process while a connection is opened. It takes several
 * locks then and must keep them: otherwise, of several processes that start on one new file, none would succeed.
 */
const busyTimeoutMs = 1000;

/** Value of `PRAGMA synchronous` for FULL. */
const synchronousFull = "2";

/**
 * Settings of every connection.
 *
 * - `synchronous`: FULL flushes the write-ahead log in every commit; NORMAL, the default of one provider, does not
 * - `fullfsync`: macOS flushes the cache of the disk only on request
 * - `wal_autocheckpoint`: commits copy nothing into the database, so that the log can be checked before (see checkpointer.ts)
 * - `trusted_schema`, `cell_size_check`: a tampered or damaged file runs no functions and fails early
 */
const settings = `
  PRAGMA busy_timeout = ${busyTimeoutMs};
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
`;

/** Keeps all other processes out, and needs no index of the log. Must come before the first read. */
const exclusive = "PRAGMA locking_mode = EXCLUSIVE;";

/**
 * Opens a plant store to write; an empty file becomes one.
 *
 * @param path absolute, so that SQLite mistakes it for neither a URI nor a name such as ":memory:"; without symbolic links
 * @param upgrades creates or upgrades the schema; without it, the schema is not checked
 * @throws StoreError or an error of SQLite; the connection is closed then
 */
export function openDatabase(
  provider: SqliteProvider,
  path: string,
  { upgrades = true, schema = sqliteSchema } = {},
): SqliteDatabase {
  whileLocked(() => assertAlone(provider, path));
  return connect(provider, path, (database) => {
    // Before the write-ahead log is on, so that the file itself is marked as a plant store from the beginning.
    if (upgrades) whileLocked(() => migrate(database, path, schema));
    whileLocked(() => {
      database.exec("PRAGMA journal_mode = WAL");
      // The first read opens the log.
      database.exec("SELECT 1 FROM migrations");
    });
    checkDurability(database, path);
    flushLog(path);
  });
}

/**
 * Opens a plant store to read, also while others write to it.
 *
 * @param path as for {@link openDatabase}
 * @param check asserts that the version of the schema can be read
 * @throws StoreError or an error of SQLite; the connection is closed then
 */
export function openDatabaseToRead(
  provider: SqliteProvider,
  path: string,
  check: (database: SqliteDatabase, path: string) => void = assertCurrent,
): SqliteDatabase {
  const prepare = (database: SqliteDatabase): void => {
    database.exec("PRAGMA query_only = ON");
    check(database, path);
  };
  try {
    whileLocked(() => assertAlone(provider, path));
  } catch (error) {
    // Any other error means that nothing can be created there, as on a read-only disk.
    if (isBusy(error)) throw error;
  }
  try {
    return connect(provider, path, prepare);
  } catch (error) {
    if (!isWriteFailure(error)) throw error;
    return connectWithoutIndex(provider, path, prepare, error);
  }
}

/**
 * Connects to read where the index of the log cannot be created. A connection that excludes all others needs none, and reads
 * on a full disk. On a read-only disk, it cannot be had either. If no log exists there, no process writes to the file, and
 * SQLite can read it as a file that never changes (https://sqlite.org/uri.html, "immutable").
 *
 * @param error for which the index cannot be created
 * @throws an error of SQLite: busy if another process reads the store in this way; otherwise `error`
 */
function connectWithoutIndex(
  provider: SqliteProvider,
  path: string,
  prepare: (database: SqliteDatabase) => void,
  error: unknown,
): SqliteDatabase {
  try {
    return connect(provider, path, prepare, exclusive + settings);
  } catch (exclusiveError) {
    if (isBusy(exclusiveError)) throw isUnwritable(error) ? error : exclusiveError;
  }
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  // A process that has just opened the store has both files, and its log is still empty.
  const hasLog = log !== undefined && (log.size > 0 || existsSync(`${path}-shm`));
  if (!isUnwritable(error) || hasLog) throw error;
  try {
    return connect(provider, `${pathToFileURL(path).href}?immutable=1`, prepare);
  } catch {
    throw error;
  }
}

/**
 * Asserts that no other process has the store open although its log or the index of its log is missing. Without the
 * files, SQLite would create others, and the processes would no longer see each other's locks and commits. Every
 * process that has the store open holds a shared lock on it.
 *
 * @throws an error of SQLite: busy
 */
function assertAlone({ DatabaseSync }: SqliteProvider, path: string): void {
  if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) return;
  const database = new DatabaseSync(path);
  try {
    database.exec(`${exclusive} SELECT 1 FROM sqlite_schema`);
  } finally {
    database.close();
  }
}

function connect(
  { DatabaseSync }: SqliteProvider,
  name: string,
  prepare: (database: SqliteDatabase) => void,
  pragmas = settings,
): SqliteDatabase {
  const database = new DatabaseSync(name);
  try {
    database.exec(pragmas);
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite ignores a setting that it cannot have. A store that loses plants is worse than none. */
function checkDurability(database: SqliteDatabase, path: string): void {
  const journalMode = readSetting(database, "journal_mode");
  const synchronous = readSetting(database, "synchronous");
  if (journalMode === "wal" && synchronous === synchronousFull) return;
  const problem = `cannot be made durable there (journal_mode ${journalMode}, synchronous ${synchronous}): choose a path on a local disk`;
  throw createStoreError(unusable(problem), path);
}

function readSetting(database: SqliteDatabase, name: string): string {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, string | number>;
  return String(Object.values(row)[0]);
}
