/** The engine on one SQLite file: one thread writes; another one reads, and keeps the write-ahead log short. */
import { resolve } from "node:path";
import { toTextLength } from "../../core/plant.ts";
import type { CreateEntry, StoreEngine } from "../../core/store.ts";
import type { EngineOptions } from "../store-location.ts";
import type { ConnectionTarget } from "./connection.ts";
import { assertSqliteInstalled } from "./driver.ts";
import { packRequests, unpackPlants } from "./rows.ts";
import { createFilesInUse } from "./store-file.ts";
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

  /** Makes a write whose result counts only if the files of the store were in place before and after it. */
  async function write<T>(thread: typeof writer, call: () => Promise<T>): Promise<T> {
    // A thread that has to start checks the files itself; the last one that died has removed its log.
    if (thread.isRunning()) files.assertInPlace();
    const result = await call();
    files.assertInPlace();
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
      const results = await write(writer, () => writer.call("commit", packRequests(requests)));
      checkpointer.noteCommit(requests);
      return results;
    },
    get: (id) => reader.call("get", id),
    list: async (query) => unpackPlants(await reader.call("list", query)),
    count: (filter) => reader.call("count", filter),
    delete: (ids) => write(writer, () => writer.call("delete", ids)),
    checkWritable: () => write(writer, () => writer.call("checkWritable")),
    addToken: (token) => write(writer, () => writer.call("addToken", token)),
    listTokens: () => writer.call("listTokens"),
    readTokens: (knownVersion) => writer.call("readTokens", knownVersion),
    endToken: (token) => write(writer, () => writer.call("endToken", token)),
    noteTokenUses: (digests, day) =>
      write(reader, () => reader.call("noteTokenUses", digests, day)),
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

/** Pages written between two checkpoints. SQLite's default; of 1000, 2000 and 4000 it gave the shortest waits. */
const pagesPerCheckpoint = 1000;

/**
 * Length of the write-ahead log in pages of 4 KiB from which its rest is copied between two commits, so that the next commit
 * starts the log again. Most of it is copied during commits, but never all while commits continue. A longer log gains
 * nothing, and closing the last connection has to copy it.
 */
const maxLogPages = 8000;

/**
 * Log length from which commits wait once for readers. Overlapping readers prevent the log from starting again, however
 * short each of them is.
 */
const overlongLogPages = 2 * maxLogPages;

const pageBytes = 4096;

/** The calls on the connections of an engine. */
interface CheckpointConnection {
  /** Copies the log on a connection other than that of the commits. Resolves with the length of the log in pages. */
  checkpoint(): Promise<number>;
  /** Copies the rest of the log on the connection of the commits. */
  finish(): Promise<unknown>;
  /** Resolves with false if a reader took too long. */
  restartLog(): Promise<boolean>;
}

/** Creates an object that starts checkpoints of a log after commits. */
export function createCheckpointer(connection: CheckpointConnection) {
  let pages = 0;
  let isActive = false;
  let restartAtPages = overlongLogPages;

  async function checkpoint(): Promise<void> {
    const logPages = await connection.checkpoint();
    if (logPages >= maxLogPages) await connection.finish();
    if (logPages < restartAtPages) {
      if (logPages < overlongLogPages) restartAtPages = overlongLogPages;
      return;
    }
    const isRestarted = await connection.restartLog();
    // A reader takes long: waiting for it again and again would stop the commits.
    restartAtPages = isRestarted ? overlongLogPages : 2 * logPages;
  }

  return {
    /** Records a successful commit. */
    noteCommit(requests: readonly CreateEntry[]): void {
      for (const { plant } of requests) {
        // A plant changes one page, and a large one further pages.
        pages += 1 + Math.floor(toTextLength(plant) / pageBytes);
      }
      if (isActive || pages < pagesPerCheckpoint) return;
      pages = 0;
      isActive = true;
      // Commits report the same failures, and the next checkpoint catches up.
      void checkpoint()
        .catch(() => undefined)
        .then(() => (isActive = false));
    },
  };
}
