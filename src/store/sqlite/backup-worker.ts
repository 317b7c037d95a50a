/** The work of backups on a thread: reads a whole file, or replaces one. Loaded on demand. */
import { unlinkSync } from "node:fs";
import { dirname } from "node:path";
import type { StoreContents } from "../../core/store.ts";
import {
  createStoreError,
  failures,
  type FailureKind,
  toCode,
  unusable,
} from "../store-failure.ts";
import {
  exclusive,
  findTampering,
  openDatabaseToRead,
  readPragma,
  readSchemaVersion,
} from "./database.ts";
import {
  createDamageError,
  isBusy,
  isWriteFailure,
  loadSqlite,
  toFailureKind,
  type SqliteDatabase,
} from "./driver.ts";
import type { StoreFile } from "./store-file.ts";
import { findDamage, readAllPlants, type StoredRow } from "./rows.ts";

/** A store to copy or to check. Others may write to it meanwhile. */
export type WholeFile = Awaited<ReturnType<typeof openWholeFile>>;

/** Opens a store to read. @throws StoreError or an error of SQLite, as its methods do */
export async function openWholeFile({ path, realPath }: Pick<StoreFile, "path" | "realPath">) {
  const provider = await loadSqlite();
  const database = openDatabaseToRead(provider, realPath);
  const countRows = (table: string): number => {
    const row = database.prepare(`SELECT count(*) AS count FROM ${table}`).get();
    return (row as { count: number }).count;
  };

  return {
    /** Copies what the store has at the start into an empty file, without a flush. @returns the number of plants there */
    copyTo(copyPath: string): number {
      try {
        // A snapshot: unlike the backup interface of SQLite, it does not start again when others write.
        database.exec("PRAGMA query_only = OFF");
        database.prepare("VACUUM INTO ?").run(copyPath);
        database.prepare("ATTACH ? AS copy").run(copyPath);
        return countRows("copy.plants");
      } catch (error) {
        if (!isWriteFailure(error)) throw error;
        const problem = `cannot be copied to ${dirname(copyPath)}: free some space there, or check both disks`;
        throw createStoreError({ reason: "full", problem }, path, error);
      }
    },
    /** Searches the file and every plant for damage; throws what it finds first. */
    check(): StoreContents {
      // https://sqlite.org/pragma.html#pragma_integrity_check
      const finding = readPragma(database, "integrity_check(1)");
      if (finding !== "ok") throw createDamageError(path, finding);
      const tampering = findTampering(database);
      if (tampering !== undefined) throw createStoreError(tampering, path);
      const plants = checkPlants(database, path);
      return { plants, tokens: countRows("tokens"), version: readSchemaVersion(database) };
    },
    close: () => database.close(),
  };
}

/** Checks every plant. @returns their number */
function checkPlants(database: SqliteDatabase, path: string): number {
  const statement = database.prepare(readAllPlants);
  statement.setReadBigInts(true);
  let plants = 0;
  for (const row of statement.iterate()) {
    const damage = findDamage(row as Record<keyof StoredRow, unknown>);
    if (damage !== undefined) throw createDamageError(path, damage);
    plants++;
  }
  return plants;
}

/** A store that no other process can open, in one file without a log, until it is closed. */
export type ReplacedFile = Awaited<ReturnType<typeof openReplacedFile>>;

/** Time to wait for other processes that read the store. */
const replaceTimeoutMs = 1000;

/**
 * Locks a store that will be replaced, and moves its log into the file, so that the file alone is the store.
 *
 * @throws StoreError `busy` if another process has the store open; or an error of SQLite
 */
export async function openReplacedFile({ path, realPath }: StoreFile) {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(realPath);
  try {
    // Every process that has the store open holds a shared lock on the file, which excludes this one.
    database.exec(`
      PRAGMA busy_timeout = ${replaceTimeoutMs};
      ${exclusive}
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      BEGIN EXCLUSIVE;
      ROLLBACK;
      PRAGMA journal_mode = DELETE;
    `);
    // In memory: a journal in a file would remain. Nothing is written from now on.
    if (readPragma(database, "journal_mode = MEMORY") !== "memory") {
      throw createStoreError(failures.locked, path);
    }
    database.exec("BEGIN EXCLUSIVE");
    removeLog(path, realPath);
    return {
      hasPlants: () => hasPlants(database),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    if (isBusy(error)) throw createStoreError(inUse, path);
    const isDamaged = toFailureKind(error) === failures.damaged;
    throw isDamaged ? createStoreError(damaged, path, error) : error;
  }
}

/** Removes what the new store would take for its own: SQLite ignores that it cannot remove a log. */
function removeLog(path: string, realPath: string): void {
  for (const suffix of ["-wal", "-shm", "-journal"]) {
    try {
      unlinkSync(realPath + suffix);
    } catch (error) {
      if (toCode(error) !== "ENOENT") throw createStoreError(logRemains, path, error);
    }
  }
}

const logRemains = unusable(
  "is not replaced, because its old log or journal cannot be removed: remove the files of the same name that end in -wal, -shm and -journal, then restore again",
);
const inUse: FailureKind = {
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
