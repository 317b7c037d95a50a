/** The file of a store that is open: nothing is written any more once its path leads elsewhere. */
import { type BigIntStats, statSync } from "node:fs";
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
}

/** @param path absolute */
export function createDatabaseFile(path: string): DatabaseFile {
  let identity: string | undefined;
  return {
    path,
    prepare() {
      if (identity === undefined) {
        prepareDatabaseFile(path);
        identity = toIdentity(statSync(path, { bigint: true }));
      } else {
        watchDatabaseFile(path, identity)();
      }
      return identity;
    },
  };
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

/** SQLite counts it, where it notices, to the read-only (https://sqlite.org/rescode.html#readonly_dbmoved). */
const moved: Meaning = {
  reason: "full",
  complaint: "was removed or replaced while it was in use: put it back, or start plantstore again",
};
