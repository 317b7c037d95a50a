/** Keeps the write-ahead log short without delaying commits. */
import { toTextLength } from "../../core/plant.ts";
import type { CreateRequest } from "../../core/store.ts";

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
    noteCommit(requests: readonly CreateRequest[]): void {
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
