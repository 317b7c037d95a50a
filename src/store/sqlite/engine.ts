/** The engine on one SQLite file. One thread writes; another one reads and does what would delay commits. */
import { resolve } from "node:path";
import type { FeedEntry, FeedQuery, StoreEngine, StoreReader } from "../../core/store.ts";
import { createCheckpointer } from "./checkpointer.ts";
import type { ConnectionTarget } from "./connection.ts";
import { flushLog } from "../durable-files.ts";
import { createFilesInUse } from "./files-in-use.ts";
import { packRequests, unpackFeed, unpackPlants } from "./plants.ts";
import { assertSqliteInstalled, isForMainThread } from "./provider.ts";
import {
  type ConnectionThread,
  createConnectionThread,
  startSpareThreads,
  useConnection,
} from "./thread.ts";

/** Options for {@link openSqliteEngine}. */
interface SqliteEngineOptions {
  /** Rejects a missing file instead of creating it. Default: false. */
  readonly mustExist?: boolean;
  /** Receives warnings for the operator. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

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
  { mustExist = false, onWarning = ignore }: SqliteEngineOptions = {},
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

/**
 * Opens a store to read, without another thread if possible. Nothing is created or changed, and others may write to it
 * meanwhile.
 *
 * @param path taken literally; absolute, or relative to the working directory
 * @throws StoreError
 */
export async function openSqliteReader(path: string): Promise<StoreReader> {
  const absolutePath = resolve(path);
  const files = createFilesInUse(absolutePath, true, ignore);
  const locate = (): ConnectionTarget => ({ ...files.locate(), access: "read" });
  let isFlushed = false;
  const connection = isForMainThread
    ? await (await import("./local-connection.ts")).openLocalConnection(locate())
    : await openThread();

  async function openThread(): Promise<ConnectionThread> {
    // A connection may find commits in the log that a killed process did not flush. Later commits appear once they are flushed.
    const thread = createConnectionThread(absolutePath, locate, () => void (isFlushed = false));
    await thread.open();
    return thread;
  }

  async function readFeed(query: FeedQuery): Promise<readonly FeedEntry[]> {
    files.assertInPlace();
    const packed = await connection.call("readFeed", query);
    if (!isFlushed) flushLog(files.locate().realPath);
    isFlushed = true;
    return unpackFeed(packed);
  }

  return {
    get: (id) => connection.call("get", id),
    list: async (query) => unpackPlants(await connection.call("list", query)),
    count: (filter) => connection.call("count", filter),
    listTokens: () => connection.call("listTokens"),
    // Takes minutes for a large store: the caller shows its progress.
    checkSoundness: () =>
      useConnection(locate(), (thread: ConnectionThread) => thread.call("checkSoundness")),
    readFeed,
    close: () => connection.close(),
  };
}

function ignore(): void {
  // The caller has no use for the event.
}
