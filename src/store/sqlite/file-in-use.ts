/** The file of a store that is open: nothing is acknowledged any more once its path leads elsewhere. */
import { type BigIntStats, renameSync, statSync } from "node:fs";
import { prepareDatabaseFile, toIdentity } from "./database-file.ts";
import { createStoreError, type Meaning } from "./failure.ts";

/**
 * The file of a store in use: that which its first connection found or made. A path that leads to another one by now, or
 * to none, has to stay as it is: SQLite would make a file anew, and drop the log of the one that is gone. The commits in
 * that log come back with the file.
 */
export interface DatabaseFile {
  readonly path: string;
  /**
   * Makes sure of it before another connection; before the first one it may be made.
   *
   * @returns for {@link watchDatabaseFile}
   * @throws StoreError
   */
  prepare(): string;
  /** Remembers which log is that of this file; to be called once the first connection has made it. */
  noteLog(): void;
  /**
   * To be called after the last connection. Its log stays behind where another file is in its place by then, and gets
   * another name: beside that file SQLite would take it for its log, write into it what is none of it, and ruin it.
   *
   * @throws StoreError when the log can't be renamed
   */
  leave(): void;
}

/** The file of an absolute path, which is not looked at yet. */
export function createDatabaseFile(path: string): DatabaseFile {
  const log = `${path}-wal`;
  let identity: string | undefined;
  let logIdentity: string | undefined;
  return {
    path,
    prepare() {
      if (identity === undefined) {
        prepareDatabaseFile(path);
        identity = findIdentity(path);
      }
      const expected = identity ?? "none"; // Gone again already.
      watchDatabaseFile(path, expected)();
      return expected;
    },
    noteLog() {
      logIdentity = findIdentity(log);
    },
    leave() {
      const found = findIdentity(path);
      if (found === undefined || found === identity) return;
      // Else whoever works on the other file has begun it.
      if (logIdentity === undefined || findIdentity(log) !== logIdentity) return;
      try {
        renameSync(log, `${log}.replaced`);
      } catch (error) {
        throw createStoreError(foreignLog, path, error);
      }
    },
  };
}

/** @returns undefined where nothing leads to a file */
function findIdentity(path: string): string | undefined {
  try {
    return toIdentity(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

/**
 * A function that makes sure that a path still leads to its file. SQLite itself goes on in a file that was removed, and
 * all that it stores there is gone with the process.
 *
 * @param path absolute
 * @param identity that of the file
 * @throws StoreError from the function it returns
 */
export function watchDatabaseFile(path: string, identity: string): () => void {
  return () => {
    let found: BigIntStats | undefined;
    try {
      found = statSync(path, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      throw createStoreError(moved, path, error); // Nothing leads there any more.
    }
    if (found === undefined || toIdentity(found) !== identity) throw createStoreError(moved, path);
  };
}

const foreignLog: Meaning = {
  reason: "unusable",
  complaint:
    "was replaced, and the log of the file before it is still there: remove the one that ends in -wal before the next start",
};

/** SQLite counts it, where it notices, to the read-only (https://sqlite.org/rescode.html#readonly_dbmoved). */
const moved: Meaning = {
  reason: "full",
  complaint: "was removed or replaced while it was in use: put it back, or start plantstore again",
};
