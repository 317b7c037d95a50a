/** The files of an open store. A store whose files are removed or replaced acknowledges nothing more. */
import { type BigIntStats, renameSync, statSync } from "node:fs";
import { attempt } from "../../core/attempt.ts";
import { createStoreError, type Meaning, unusable } from "../store-failure.ts";
import { prepareDatabaseFile, type StoreFile, toIdentity } from "./database-file.ts";
import { assertOwnLog } from "./log-file.ts";

/**
 * Creates the files of a store in use: the database, its log (`-wal`) and the index of the log (`-shm`). SQLite itself
 * continues in removed files, and everything that it stores there is lost with the process. The path is not read yet.
 *
 * @param path absolute
 * @param mustExist rejects a missing file instead of creating it
 * @param onWarning is called once if the database gets a second hard link
 */
export function createFilesInUse(
  path: string,
  mustExist: boolean,
  onWarning: (message: string) => void,
) {
  let database: StoreFile | undefined;
  let logs: readonly (string | undefined)[] | undefined;
  let isLinked = false;

  const findLogs = ({ realPath }: StoreFile) =>
    ["-wal", "-shm"].map((suffix) => findIdentity(realPath + suffix));

  /**
   * Asserts that all files are in place. Takes 5 µs.
   *
   * @throws StoreError
   */
  function assertInPlace(): void {
    if (database === undefined) return;
    const found = findStats(path);
    if (found === undefined || toIdentity(found) !== database.identity) {
      throw createStoreError(moved, path);
    }
    if (found.nlink > 1n && !isLinked) {
      isLinked = true;
      onWarning(createStoreError(linked, path).message);
    }
    if (logs === undefined) return;
    const isInPlace = findLogs(database).every((log, index) => log && log === logs?.[index]);
    if (!isInPlace) throw createStoreError(logMoved, path);
  }

  return {
    /**
     * Finds the database before a connection opens it. Only the first call may create it: later, SQLite would create an
     * empty file instead of a missing one, and drop the log of the missing one.
     *
     * @throws StoreError
     */
    locate(): StoreFile {
      if (database === undefined) {
        const found = prepareDatabaseFile(path, mustExist);
        assertOwnLog(found);
        database = found;
      }
      assertInPlace();
      return database;
    },
    /** Records the log and its index after a connection was opened; further calls change nothing. */
    recordLog(): void {
      logs ??= database && findLogs(database);
    },
    /** Forgets the log and its index. The last connection has removed them, and the next one creates others. */
    forgetLog(): void {
      logs = undefined;
    },
    assertInPlace,
    /** Checks whether the log is missing. If it was replaced, another process may use its successor. */
    isLogRemoved: (): boolean => database !== undefined && findLogs(database)[0] === undefined,
    /**
     * Renames a log that remains with a database other than its own after the last connection was closed. SQLite would
     * mistake it for the log of that database, and damage the database.
     *
     * @throws StoreError when the log cannot be renamed
     */
    leave(): void {
      if (database === undefined) return;
      const { realPath, identity } = database;
      const found = findIdentity(realPath);
      if (found === undefined || found === identity) return;
      // Any other log belongs to a process that has opened the other file.
      const log = findIdentity(`${realPath}-wal`);
      if (log === undefined || log !== logs?.[0]) return;
      try {
        renameSync(`${realPath}-wal`, `${realPath}-wal.replaced`);
      } catch (error) {
        throw createStoreError(foreignLog, path, error);
      }
    },
  };
}

/** @throws StoreError when the path leads nowhere, for example because of a loop of links */
function findStats(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw createStoreError(moved, path, error);
  }
}

function findIdentity(path: string): string | undefined {
  return attempt(() => toIdentity(statSync(path, { bigint: true })));
}

const foreignLog = unusable(
  "was replaced, and the log of the file before it is still there: remove the file that ends in -wal before the next start",
);
const logMoved: Meaning = {
  reason: "full",
  problem:
    "lost its log while it was in use: the file that ends in -wal or -shm was removed or replaced. Stop every plantstore process on this store, then start again",
};
/** SQLite counts this, where it notices, as read-only (https://sqlite.org/rescode.html#readonly_dbmoved). */
const moved: Meaning = {
  reason: "full",
  problem: "was removed or replaced while it was in use: put it back, or restart plantstore",
};
const linked = unusable(
  "now has more than one hard link. Remove the other name before the next start, which rejects such a file: two names of one file would become two stores",
);
