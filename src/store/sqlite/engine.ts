/** The engine on one SQLite file. One thread writes; another one reads and does what would delay commits. */
import { resolve } from "node:path";
import type { StoreEngine } from "../../core/store.ts";
import type { EngineOptions } from "../store-location.ts";
import { createCheckpointer } from "./checkpointer.ts";
import type { ConnectionTarget } from "./connection.ts";
import { createFilesInUse } from "./files-in-use.ts";
import { packRequests, unpackPlants } from "./plants.ts";
import { assertSqliteInstalled } from "./provider.ts";
import { createConnectionThread, startSpareThreads } from "./thread.ts";

/** Starts the threads of an engine before it is opened. */
export function prepareSqliteEngine(): void {
  startSpareThreads(2);
}

/**
 * Opens a SQLite file as a store; creates it if it is missing. Its directory must exist.
 *
 * @param path taken literally; absolute, or relative to the working directory
 * @throws StoreError
 */
export async function openSqliteEngine(
  path: string,
  { mustExist = false, onWarning = () => undefined }: EngineOptions = {},
): Promise<StoreEngine> {
  assertSqliteInstalled();
  const absolutePath = resolve(path);
  const files = createFilesInUse(absolutePath, mustExist, onWarning);
  let isOpen = false;

  function locate(): ConnectionTarget {
    if (!writer.isRunning() && !reader.isRunning()) files.forgetLog();
    return { ...files.locate(), access: isOpen ? "further" : "first" };
  }

  const recordLog = (): void => files.recordLog();
  const writer = createConnectionThread(absolutePath, locate, recordLog);
  const reader = createConnectionThread(absolutePath, locate, recordLog);
  const checkpointer = createCheckpointer({
    checkpoint: () => reader.call("checkpoint"),
    finish: () => writer.call("checkpoint"),
    restartLog: () => reader.call("restartLog"),
  });

  /** Handles an error of the check of the files; resolves if they are in place again. */
  async function recover(fault: unknown): Promise<void> {
    if (!files.isLogRemoved()) throw fault;
    // A kill would lose the commits in a removed log. No other process can have opened the store since (see
    // `assertAlone`), so that they can be copied into the database. The last thread that dies removes its log itself;
    // it does not respond, and the files are in place again.
    await writer.call("checkpoint").catch(() => undefined);
    if (!writer.isRunning() && !reader.isRunning()) files.forgetLog();
    files.assertInPlace();
  }

  /** Makes a write whose result counts only if the files of the store were in place before and after it. */
  async function write<T>(call: () => Promise<T>): Promise<T> {
    // Without an await, so that calls keep their order.
    try {
      files.assertInPlace();
    } catch (error) {
      await recover(error);
    }
    const result = await call();
    try {
      files.assertInPlace();
    } catch (error) {
      await recover(error);
    }
    return result;
  }

  await writer.open();
  try {
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
    async commit(requests) {
      const results = await write(() => writer.call("commit", packRequests(requests)));
      checkpointer.noteCommit(requests);
      return results;
    },
    get: (id) => reader.call("get", id),
    list: async (query) => unpackPlants(await reader.call("list", query)),
    count: (filter) => reader.call("count", filter),
    delete: (ids) => write(() => writer.call("delete", ids)),
    checkWritable: () => write(() => writer.call("checkWritable")),
    addToken: (token) => write(() => writer.call("addToken", token)),
    listTokens: () => writer.call("listTokens"),
    readTokens: (knownVersion) => writer.call("readTokens", knownVersion),
    endToken: (token) => write(() => writer.call("endToken", token)),
    removeTokens: (digests) => write(() => writer.call("removeTokens", digests)),
    noteTokenUses: (digests, day) => write(() => reader.call("noteTokenUses", digests, day)),
    async close() {
      // One after the other: only the last connection moves the log into the file, and of two that close at once
      // neither is the last.
      await reader.close();
      await writer.close();
      files.leave();
      files.forgetLog();
    },
  };
}
