/** Transactions, and waiting for the locks of other connections. */
import { isBusy } from "./sqlite-error.ts";
import type { SqliteDatabase } from "./provider.ts";

/** Time that other connections may hold a lock: as long as a server with a slow disk may take to flush. */
const lockTimeoutMs = 5000;

const pauseMs = 1;
const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread for a millisecond. */
export function pause(): void {
  Atomics.wait(pauseCell, 0, 0, pauseMs);
}

/**
 * Repeats work while it fails because of a lock, and blocks the thread in between.
 *
 * SQLite can wait by itself, but with pauses of up to 100 ms, so that a busy server almost locks out a second server on
 * the same file. A thread that waits inside SQLite also cannot be stopped.
 *
 * @param work a whole transaction, or a statement outside of one
 * @throws what `work` throws, including its last failure because of a lock
 */
export function whileLocked<T>(work: () => T): T {
  const deadlineMs = performance.now() + lockTimeoutMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
    }
    pause();
  }
}

/**
 * Runs `work` in a write transaction. The lock is taken first, so that `work` never has to be repeated.
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
    // SQLite has already rolled back by itself, as it may do when the disk is full.
  }
}
