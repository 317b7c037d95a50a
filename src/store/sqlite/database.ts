/** Opens a database: locks, transactions, settings, and the tables. */
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { attempt } from "../../core/attempt.ts";
import { syncDirectory, syncFile } from "../durable-files.ts";
import { assertVersion, schemaVersion } from "../sql-tables.ts";
import { createStoreError, type FailureKind, unusable } from "../store-failure.ts";
import {
  isBusy,
  isShortOfFiles,
  isUnwritable,
  isWriteFailure,
  type SqliteDatabase,
  type SqliteProvider,
} from "./driver.ts";
import { applicationId, foreignDatabase } from "./store-file.ts";

/**
 * Time that a statement waits inside SQLite for the lock of another process while a connection is opened. It takes several
 * locks then and must keep them: otherwise, of several processes that start on one new file, none would succeed.
 */
const busyTimeoutMs = 1000;

/**
 * Settings of every connection.
 *
 * - `synchronous`: FULL flushes the write-ahead log in every commit; NORMAL, the default of one provider, does not
 * - `fullfsync`: macOS flushes the cache of the disk only on request
 * - `wal_autocheckpoint`: the pages from which a commit copies the rest of the log, so that the log starts again
 * - `trusted_schema`, `cell_size_check`: a tampered or damaged file runs no functions and fails early
 */
const settings = `
  PRAGMA busy_timeout = ${busyTimeoutMs};
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA wal_autocheckpoint = 8000;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
`;

/** Keeps all other processes out, and needs no index of the log. Must come before the first read. */
export const exclusive = "PRAGMA locking_mode = EXCLUSIVE;";

/**
 * Opens a plant store to write; an empty file becomes one.
 *
 * @param path absolute, so that SQLite mistakes it for neither a URI nor a name such as ":memory:"; without symbolic links
 * @param isFirst creates the tables in an empty file, and checks their version
 * @throws StoreError or an error of SQLite; the connection is closed then
 */
export function openDatabase(
  provider: SqliteProvider,
  path: string,
  isFirst = true,
): SqliteDatabase {
  retryWhileBusy(() => assertAlone(provider, path));
  return connect(provider, path, (database) => {
    // Before the write-ahead log is on, so that the file itself is marked as a plant store from the beginning.
    if (isFirst) retryWhileBusy(() => prepareTables(database, path));
    retryWhileBusy(() => {
      database.exec("PRAGMA journal_mode = WAL");
      // The first read opens the log.
      database.exec("SELECT 1 FROM migrations");
    });
    checkDurability(database, path);
    flushLog(path);
  });
}

/**
 * Opens a plant store to read, also while others write to it. The file and its log do not change.
 *
 * @throws StoreError or an error of SQLite; the connection is closed then
 */
export function openDatabaseToRead(provider: SqliteProvider, path: string): SqliteDatabase {
  const prepare = (database: SqliteDatabase): void => {
    database.exec("PRAGMA query_only = ON");
    assertCurrent(database, path);
  };
  // Until the connection is open, another process may create the log, or remove it.
  return retryWhileBusy(() => {
    const hasLog = ["-wal", "-journal"].some((suffix) => existsSync(path + suffix));
    return hasLog
      ? connectToLog(provider, path, prepare)
      : connectWithoutLog(provider, path, prepare);
  });
}

/**
 * Connects to read a file and its log, or its journal. Any other connection would copy the log into the file when it is
 * closed, and remove it, with all that follows a damaged byte.
 */
function connectToLog(
  provider: SqliteProvider,
  path: string,
  prepare: Preparation,
): SqliteDatabase {
  try {
    return connect(provider, path, prepare, { readOnly: true });
  } catch (error) {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    if (log === undefined || !isUnwritable(error) || isShortOfFiles()) throw error;
    // A process that has just opened the store has both files, and its log is still empty.
    if (log.size > 0 || existsSync(`${path}-shm`)) throw createStoreError(noIndex, path, error);
    return connect(provider, toImmutable(path), prepare);
  }
}

const noIndex = unusable(
  "has a log that cannot be read: make its directory and the files that end in -wal and -shm accessible, or copy the file and its log to another directory",
);

/**
 * Connects to read a file without a log, with a connection that may write: when it is closed, SQLite removes the empty log
 * that it has created. Where the index of the log cannot be created, a connection that excludes all others needs none, and
 * reads on a full disk. On a read-only disk, it cannot be had either.
 */
function connectWithoutLog(
  provider: SqliteProvider,
  path: string,
  prepare: Preparation,
): SqliteDatabase {
  try {
    assertAlone(provider, path);
    return connect(provider, path, prepare);
  } catch (error) {
    if (!isWriteFailure(error)) throw error;
  }
  try {
    return connect(provider, path, prepare, { pragmas: exclusive + settings });
  } catch (error) {
    if (!isWriteFailure(error)) throw error;
    return connect(provider, toImmutable(path), prepare);
  }
}

/**
 * Names a file as one that never changes, which SQLite reads without a log (https://sqlite.org/uri.html, "immutable"). No
 * process writes to a file that has no log.
 */
function toImmutable(path: string): string {
  return `${pathToFileURL(path).href}?immutable=1`;
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

/** Prepares a connection that was just opened. @throws an error for which it is closed */
type Preparation = (database: SqliteDatabase) => void;

function connect(
  { DatabaseSync }: SqliteProvider,
  name: string,
  prepare: Preparation,
  { pragmas = settings, readOnly = false } = {},
): SqliteDatabase {
  const database = new DatabaseSync(name, { readOnly });
  try {
    database.exec(pragmas);
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Flushes the log of a database, if it has one, and its directory entry. A process that was killed between writing and
 * flushing a commit leaves the commit in the cache of the operating system, where SQLite finds it. Without this flush, a
 * repeated create would be acknowledged as `unchanged` although a power failure could still lose the plant. (SQLite takes
 * no locks on the log, so that closing it here drops none.)
 */
function flushLog(path: string): void {
  if (!existsSync(`${path}-wal`)) return;
  syncFile(`${path}-wal`);
  syncDirectory(dirname(path));
}

/** SQLite ignores a setting that it cannot have. A store that loses plants is worse than none. */
function checkDurability(database: SqliteDatabase, path: string): void {
  const journalMode = readPragma(database, "journal_mode");
  const synchronous = readPragma(database, "synchronous");
  // 2 stands for FULL.
  if (journalMode === "wal" && synchronous === "2") return;
  const problem = `cannot be made durable there (journal_mode ${journalMode}, synchronous ${synchronous}): choose a path on a local disk`;
  throw createStoreError(unusable(problem), path);
}

/** Returns the only value in the result of a pragma, as text. */
export function readPragma(database: SqliteDatabase, pragma: string): string {
  const row = database.prepare(`PRAGMA ${pragma}`).get() as Record<string, string | number>;
  return String(Object.values(row)[0]);
}

/** Time that other connections may hold a lock: as long as a server with a slow disk may take to flush. */
const lockTimeoutMs = 5000;
/** For a call after one that waited so long: it has waited with that one, and clients give up after 10 s. */
const shortLockTimeoutMs = 500;
const pauseMs = 1;
/** Whether the last call on this thread waited in vain. */
let isLocked = false;
const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Repeats work while it fails because of a lock, and blocks the thread in between.
 *
 * SQLite can wait by itself, but with pauses of up to 100 ms, so that a busy server almost locks out a second server on
 * the same file. A thread that waits inside SQLite also cannot be stopped.
 *
 * @param work a whole transaction, or a statement outside of one
 * @throws what `work` throws, including its last failure because of a lock
 */
export function retryWhileBusy<T>(work: () => T): T {
  const deadlineMs = performance.now() + (isLocked ? shortLockTimeoutMs : lockTimeoutMs);
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      isLocked = performance.now() > deadlineMs;
      if (isLocked) throw error;
    }
    Atomics.wait(pauseCell, 0, 0, pauseMs);
  }
}

/**
 * Runs `work` in a write transaction. The lock is taken first, so that `work` never has to be repeated.
 *
 * @throws what `work` or the commit throws; nothing is stored then
 */
export function inTransaction<T>(database: SqliteDatabase, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  isLocked = false;
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // Fails if SQLite has rolled back by itself, as it may do when the disk is full.
    attempt(() => database.exec("ROLLBACK"));
    throw error;
  }
}

/** The tables of a new store. */
const schema = `
  PRAGMA application_id = ${applicationId};
  CREATE TABLE migrations (
    version INTEGER PRIMARY KEY,
    applied_at INTEGER NOT NULL -- all times: milliseconds since the epoch
  ) STRICT;
  CREATE TABLE plants (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    tag TEXT -- NULL: no tag, which differs from an empty tag
  ) STRICT;
  CREATE TABLE tokens (
    digest TEXT NOT NULL PRIMARY KEY, -- SHA-256, lower-case hexadecimal
    prefix TEXT NOT NULL,
    name TEXT NOT NULL,
    allow TEXT, -- the operations that it may ask for, such as create,list; NULL: all
    issued_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_day INTEGER -- days since the epoch, in UTC
  ) STRICT;
  CREATE TABLE last_check ( -- written to check that the store is writable
    checked_at INTEGER NOT NULL
  ) STRICT;
  INSERT INTO last_check (checked_at) VALUES (0);
  INSERT INTO migrations (version, applied_at)
  VALUES (${schemaVersion}, CAST(unixepoch('subsec') * 1000 AS INTEGER));
`;

/**
 * Creates the tables in an empty file, in one transaction. If several processes start on one file, one of them does.
 *
 * @throws StoreError `unusable` when the file is from another program or version; it is not changed then
 */
function prepareTables(database: SqliteDatabase, path: string): void {
  if (readSchemaVersion(database) === 0) {
    inTransaction(database, () => {
      if (readSchemaVersion(database) !== 0) return;
      const table = database.prepare("SELECT 1 FROM sqlite_schema").get();
      if (table !== undefined) throw createStoreError(foreignDatabase, path);
      database.exec(schema);
    });
  }
  assertCurrent(database, path);
}

/** Asserts that a file has the tables of this version, and changes nothing. @throws StoreError */
function assertCurrent(database: SqliteDatabase, path: string): void {
  const version = readSchemaVersion(database);
  if (version === 0) throw createStoreError(foreignDatabase, path);
  assertVersion(version, path);
  const missing = database.prepare(findMissingTable).get() as { name: string } | undefined;
  if (missing === undefined) return;
  const problem = `has no table "${missing.name}": restore an intact backup, or choose another path`;
  throw createStoreError({ reason: "damaged", problem }, path);
}

const storeTables = "(VALUES ('plants'), ('tokens'), ('migrations'), ('last_check'))";

/** A view or a virtual table of the name is no table. */
const findMissingTable = `
  SELECT column1 AS name FROM ${storeTables} WHERE NOT EXISTS (
    SELECT 1 FROM pragma_table_list
    WHERE schema = 'main' AND type = 'table' AND lower(name) = column1
  )`;

/** The triggers on the tables of the store, and on those that a foreign key changes with them. */
const findTriggers = `
  WITH RECURSIVE changed (name) AS (
    SELECT column1 FROM ${storeTables}
    UNION SELECT lower(other.name)
    FROM changed, sqlite_schema AS other, pragma_foreign_key_list(other.name) AS key
    WHERE other.type = 'table' AND lower(key."table") = changed.name
  )
  SELECT name, tbl_name FROM sqlite_schema
  WHERE type = 'trigger' AND lower(tbl_name) IN (SELECT name FROM changed)`;

/** Names the triggers of a store, which plantstore never creates. @returns the failure of a check; undefined without any */
export function findTampering(database: SqliteDatabase): FailureKind | undefined {
  const rows = database.prepare(findTriggers).all() as Record<"name" | "tbl_name", string>[];
  if (rows.length === 0) return undefined;
  const triggers = rows.map(({ name, tbl_name: table }) => `${name} on ${table}`).join(", ");
  const problem = `has triggers of another program, which can change plants and tokens by themselves (${triggers}): remove them with DROP TRIGGER, or use another backup`;
  return { reason: "damaged", problem };
}

/** @returns 0 for a file without the tables */
export function readSchemaVersion(database: SqliteDatabase): number {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  if (table === undefined) return 0;
  const row = database.prepare("SELECT max(version) AS version FROM migrations").get();
  return Number((row as { version: number | null }).version);
}
