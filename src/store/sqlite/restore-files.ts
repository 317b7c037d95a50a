/** The two files of a restore: the store that is replaced, and the copy that takes its place. */
import { rmSync } from "node:fs";
import { createStoreError, failures, type Meaning, unusable } from "../store-failure.ts";
import type { StoreFile } from "./database-file.ts";
import { openDatabase } from "./database.ts";
import { isBusy, isDamaged } from "./sqlite-error.ts";
import { loadSqlite, type SqliteDatabase } from "./provider.ts";

/** File of a restore. */
export interface RestoreTarget extends StoreFile {
  readonly access: "replaced" | "restored";
}

/** A store that no other process can open, in one file without a log, until it is closed. */
export type ReplacedFile = Awaited<ReturnType<typeof openReplacedFile>>;

/** The copy of a backup. */
export type RestoredFile = Awaited<ReturnType<typeof openRestoredFile>>;

/** Time to wait for other processes that read the store. */
const lockTimeoutMs = 1000;

/**
 * Locks a store that will be replaced, and moves its log into the file, so that the file alone is the store.
 *
 * @throws StoreError `busy` if another process has the store open; or an error of SQLite
 */
export async function openReplacedFile({ path, realPath }: RestoreTarget) {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(realPath);
  try {
    // Every process that has the store open holds a shared lock on the file, which excludes this one.
    database.exec(`
      PRAGMA busy_timeout = ${lockTimeoutMs};
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA locking_mode = EXCLUSIVE;
      BEGIN EXCLUSIVE;
      ROLLBACK;
      PRAGMA journal_mode = DELETE;
    `);
    // In memory: a journal in a file would remain. Nothing is written from now on.
    const mode = database.prepare("PRAGMA journal_mode = MEMORY").get();
    if ((mode as { journal_mode: string }).journal_mode !== "memory") {
      throw createStoreError(failures.locked, path);
    }
    database.exec("BEGIN EXCLUSIVE");
    // The journal of the change to this mode, and the index of a log whose process was killed.
    for (const suffix of ["-journal", "-shm"]) rmSync(realPath + suffix, { force: true });
    return {
      hasPlants: () => hasPlants(database),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    if (isBusy(error)) throw createStoreError(inUse, path);
    throw isDamaged(error) ? createStoreError(damaged, path, error) : error;
  }
}

const inUse: Meaning = {
  reason: "busy",
  problem: "is in use: stop every plantstore process on it, then restore again",
};
const damaged = unusable(
  "is so damaged that it cannot be replaced: move the file, and those of the same name that end in -wal and -shm, to another directory, then restore again",
);

function hasPlants(database: SqliteDatabase): boolean {
  const has = (table: string, where: string): boolean =>
    database.prepare(`SELECT 1 FROM ${table} ${where} LIMIT 1`).get() !== undefined;
  try {
    return has("sqlite_schema", "WHERE name = 'plants'") && has("plants", "");
  } catch {
    // A damaged store may have plants.
    return true;
  }
}

/**
 * Opens the copy of a backup, and upgrades its schema.
 *
 * @throws StoreError or an error of SQLite, as its methods do
 */
export async function openRestoredFile({ realPath }: RestoreTarget) {
  const database = openDatabase(await loadSqlite(), realPath);
  return {
    /** Gives the store a new id: it may lack what feeds of the store before it have sent. */
    renewId(): void {
      database.exec("UPDATE feed SET store_id = lower(hex(randomblob(8)))");
      // The log is not published. SQLite does not report if it cannot copy the log when it closes the file.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    close: () => database.close(),
  };
}
