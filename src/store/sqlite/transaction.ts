/** One transaction: everything in it, or nothing. */
import type { SqliteDatabase } from "./provider.ts";

/**
 * Runs `work` in a write transaction of its own. The lock is taken first, so that `work` never has to be repeated.
 *
 * @throws what `work` or the commit throws; nothing is stored then
 */
export function inTransaction<T>(database: SqliteDatabase, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // SQLite has rolled back by itself already, as it may do when the disk is full.
  }
}
