/** The engine on one SQLite file: one thread writes, another one reads. */
import { resolve } from "node:path";
import type { EngineOptions, StoreEngine } from "../../core/store.ts";
import type { ConnectionTarget } from "./connection.ts";
import { createStoreError } from "../store-failure.ts";
import { assertSqliteInstalled } from "./driver.ts";
import { packEntries, unpackPlants } from "./rows.ts";
import { createFilesInUse, prepareDatabaseFile } from "./store-file.ts";
import { createConnectionThread } from "./thread.ts";

/** The log is copied after so many changes, each of which writes a page or more. */
const changesPerCopy = 1000;

/**
 * Opens a SQLite file as a store; creates it if it is missing. Its directory must exist.
 *
 * @param path taken literally; absolute, or relative to the working directory
 * @throws StoreError
 */
export async function openSqliteEngine(
  path: string,
  { mustExist = false, onWarning }: EngineOptions = {},
): Promise<StoreEngine> {
  assertSqliteInstalled();
  const absolutePath = resolve(path);
  // Only this may create the file: later, SQLite would create an empty one instead of a missing one, and drop its log.
  const file = prepareDatabaseFile(absolutePath, mustExist);
  const files = createFilesInUse(file);
  let isOpen = false;
  function findTarget(): ConnectionTarget {
    if (!writer.isRunning() && !reader.isRunning()) files.forgetLog();
    files.assertInPlace();
    return { ...file, access: isOpen ? "further" : "first" };
  }

  const recordLog = (): void => files.recordLog();
  const writer = createConnectionThread(absolutePath, findTarget, recordLog);
  const reader = createConnectionThread(absolutePath, findTarget, recordLog);

  let changesToCopy = 0;
  /** Copies the log on the reading thread, so that commits seldom have to (see `wal_autocheckpoint`). */
  function copyLog(changes: number): void {
    changesToCopy += changes;
    if (changesToCopy < changesPerCopy) return;
    // No further one until this one has ended.
    changesToCopy = Number.NEGATIVE_INFINITY;
    const end = (): void => void (changesToCopy = 0);
    reader.call("copyLog").then(end, end);
  }

  /** Makes a write whose result counts only if the files of the store were in place before and after it. */
  async function write<T>(call: () => Promise<T>): Promise<T> {
    // A thread that has to start checks the files itself; the last one that died has removed its log.
    if (writer.isRunning()) files.assertInPlace();
    const result = await call();
    files.assertInPlace();
    return result;
  }

  await writer.open();
  try {
    const tampering = await writer.call("findTampering");
    if (tampering !== undefined) onWarning?.(createStoreError(tampering, path).message);
    // A restore may have replaced the file since it was found.
    files.assertInPlace();
  } catch (error) {
    await writer.close();
    throw error;
  }
  isOpen = true;

  return {
    // The next commit waits on the writing thread, which starts it without the main thread.
    maxCommits: 2,
    async commit(entries) {
      const results = await write(() => writer.call("commit", packEntries(entries)));
      copyLog(entries.length);
      return results;
    },
    get: (id) => reader.call("get", id),
    list: async (query) => unpackPlants(await reader.call("list", query)),
    count: (filter) => reader.call("count", filter),
    emptyLog: () => write(() => writer.call("emptyLog")),
    checkWritable: () => write(() => writer.call("checkWritable")),
    addToken: (token) => write(() => writer.call("addToken", token)),
    listTokens: () => writer.call("listTokens"),
    readTokens: (knownVersion) => writer.call("readTokens", knownVersion),
    endToken: (token) => write(() => writer.call("endToken", token)),
    recordTokenUse: (digests, day) => write(() => writer.call("recordTokenUse", digests, day)),
    async close() {
      // One after the other: only the last connection moves the log into the file, and of two that close at once
      // neither is the last.
      await reader.close();
      await writer.close();
      files.renameForeignLog();
      files.forgetLog();
    },
  };
}
