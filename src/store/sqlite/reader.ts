/** Reads a SQLite file that is a store already, also while others write to it. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { StoreReader } from "../../core/store.ts";
import { settings } from "./database.ts";
import { findDatabaseFile } from "./database-file.ts";
import { type Connection, createConnection } from "./connection.ts";
import { createDamageError, isUnwritable, toStoreError } from "./failure.ts";
import { checkVersion } from "./migrations.ts";
import { loadSqlite, type SqliteDatabase, type SqliteProvider } from "./provider.ts";

/**
 * Opens a store to read it. Nothing is created, and nothing in it is changed.
 *
 * @param path taken literally; absolute, or relative to the working directory
 * @throws StoreError
 */
export async function openSqliteReader(path: string): Promise<StoreReader> {
  const provider = await loadSqlite();
  const absolutePath = resolve(path);
  findDatabaseFile(absolutePath);
  let database: SqliteDatabase | undefined;
  try {
    database = openDatabase(provider, absolutePath);
    return withSoundness(createConnection(database, absolutePath), database, absolutePath);
  } catch (error) {
    database?.close();
    throw toStoreError(error, absolutePath);
  }
}

function withSoundness(
  connection: Connection,
  database: SqliteDatabase,
  path: string,
): StoreReader {
  return {
    ...connection,
    checkSoundness: async () => {
      try {
        checkSoundness(database, path);
      } catch (error) {
        throw toStoreError(error, path);
      }
    },
  };
}

/** What SQLite finds in all but the order of the indexes (https://sqlite.org/pragma.html#pragma_quick_check). */
function checkSoundness(database: SqliteDatabase, path: string): void {
  const row = database.prepare("PRAGMA quick_check(1)").get() as { readonly quick_check: string };
  if (row.quick_check !== "ok") throw createDamageError(path, row.quick_check);
}

function openDatabase(provider: SqliteProvider, path: string): SqliteDatabase {
  try {
    return connect(provider, path, path);
  } catch (error) {
    // Even to be read a store wants the files of its write-ahead log beside it. Where SQLite may not make them, and none
    // is there, as beside a copy on a read-only disk, nobody writes: it may be read as a file that never changes
    // (https://sqlite.org/uri.html, "immutable").
    if (!isUnwritable(error) || hasLog(path)) throw error;
    try {
      return connect(provider, `${pathToFileURL(path).href}?immutable=1`, path);
    } catch {
      throw error;
    }
  }
}

/** @param path for messages */
function connect({ DatabaseSync }: SqliteProvider, name: string, path: string): SqliteDatabase {
  const database = new DatabaseSync(name);
  try {
    database.exec(settings);
    database.exec("PRAGMA query_only = ON");
    checkVersion(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether there are commits that are not in the database file itself. */
function hasLog(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return log !== undefined && log.size > 0;
}
