/** Opens the one connection of an engine, and makes sure that its commits survive the loss of power. */
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy, createStoreError } from "./failure.ts";
import { migrate } from "./migrations.ts";
import type { SqliteDatabase, SqliteProvider } from "./provider.ts";

/** How long a statement waits for another process's lock; meanwhile nothing else happens in this one. */
const busyTimeoutMs = 1000;

/** What `PRAGMA synchronous` answers for FULL. */
const synchronousFull = "2";

const walAttempts = 100;
const walPauseMs = 20;

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
    migrate(database, path);
    await turnOnWal(database);
    checkDurability(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite does not wait by itself for the lock that this takes when another process starts on the same new file. */
async function turnOnWal(database: SqliteDatabase): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      // The log is opened by the first read: better now than in the first create.
      database.exec("SELECT 1 FROM migrations");
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === walAttempts) throw error;
      await sleep(walPauseMs);
    }
  }
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
