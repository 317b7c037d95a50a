/** Opens the one connection of an engine, and makes sure that its commits survive the loss of power. */
import { createStoreError } from "./failure.ts";
import { whileBusy } from "./lock-wait.ts";
import { migrate } from "./migrations.ts";
import type { SqliteDatabase, SqliteProvider } from "./provider.ts";

/**
 * How long a statement waits for another process's lock while a connection is opened. It takes many different locks
 * then, and must not let go of those it has: of several processes that start on one new file none would get anywhere.
 */
const busyTimeoutMs = 1000;

/** What `PRAGMA synchronous` answers for FULL. */
const synchronousFull = "2";

/**
 * Pages of the write-ahead log, 4 KiB each, from which on a commit copies what is left of it into the database file and
 * the next one begins it anew. That is mostly done beside the commits (see checkpointer.ts), but it is never complete
 * while they go on. A longer log gains no more; the end of the last connection has to copy all of it.
 */
export const maxLogPages = 8000;

/**
 * What every connection is set to.
 *
 * - `synchronous`: FULL flushes the write-ahead log in every commit; NORMAL, the default of one provider, does not
 * - `fullfsync`: macOS flushes the disk's own cache only when it is asked to
 * - `trusted_schema`, `cell_size_check`: a file that was tampered with or damaged runs no functions and fails early
 */
export const settings = `
  PRAGMA busy_timeout = ${busyTimeoutMs};
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA wal_autocheckpoint = ${maxLogPages};
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
`;

/**
 * A connection to a plant store; an empty file becomes one.
 *
 * @param path absolute, so that SQLite takes it for neither a URI nor a name such as ":memory:"
 * @throws StoreError or SQLite's own error; the connection is closed then
 */
export async function openDatabase(
  { DatabaseSync }: SqliteProvider,
  path: string,
): Promise<SqliteDatabase> {
  const database = new DatabaseSync(path);
  try {
    database.exec(settings);
    // Before the write-ahead log is on: the mark of a plant store is then in the file itself from the beginning.
    await whileBusy(() => migrate(database, path));
    await whileBusy(() => turnOnWal(database));
    checkDurability(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function turnOnWal(database: SqliteDatabase): void {
  database.exec("PRAGMA journal_mode = WAL");
  // The log is opened by the first read: better now than in the first create.
  database.exec("SELECT 1 FROM migrations");
}

/** SQLite passes over a setting that it cannot have; a store that would lose plants is worse than none. */
function checkDurability(database: SqliteDatabase, path: string): void {
  const journalMode = readSetting(database, "journal_mode");
  const synchronous = readSetting(database, "synchronous");
  if (journalMode === "wal" && synchronous === synchronousFull) return;
  const complaint = `cannot be made durable there (journal_mode ${journalMode}, synchronous ${synchronous}): choose a path on a local disk`;
  throw createStoreError({ reason: "unusable", complaint }, path);
}

function readSetting(database: SqliteDatabase, name: string): string {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, string | number>;
  return String(Object.values(row)[0]);
}
