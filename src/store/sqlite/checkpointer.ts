/** Keeps the write-ahead log short, beside the commits instead of in them. */
import type { CreateRequest } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { maxLogPages } from "./database.ts";

/** Pages written between two checkpoints: SQLite's own measure, and of 1000, 2000 and 4000 that of the shortest waits. */
const pagesPerCheckpoint = 1000;

/**
 * Readers that follow each other without a gap keep the log from being begun anew, however short each of them is. From
 * this length on commits wait for them once.
 */
const overlongLogPages = 2 * maxLogPages;

const pageBytes = 4096;

/** Is told of every commit, and has checkpoints made. */
export interface Checkpointer {
  noteCommit(requests: readonly CreateRequest[]): void;
}

/** @param connection another one than that which commits */
export function createCheckpointer(
  connection: Pick<Connection, "checkpoint" | "restartLog">,
): Checkpointer {
  let pages = 0;
  let isAtWork = false;
  let patiencePages = overlongLogPages;

  async function checkpoint(): Promise<void> {
    const logPages = await connection.checkpoint();
    if (logPages < patiencePages) {
      if (logPages < overlongLogPages) patiencePages = overlongLogPages;
      return;
    }
    const isRestarted = await connection.restartLog();
    // Somebody reads for long: to wait for that again and again would stop the commits.
    patiencePages = isRestarted ? overlongLogPages : 2 * logPages;
  }

  return {
    noteCommit(requests) {
      for (const { plant } of requests) pages += estimatePages(plant);
      if (isAtWork || pages < pagesPerCheckpoint) return;
      pages = 0;
      isAtWork = true;
      // What fails here fails in commits too, where somebody hears of it; the next checkpoint makes up for it.
      void checkpoint()
        .catch(() => undefined)
        .then(() => (isAtWork = false));
    },
  };
}

/** A plant with an id of its own changes a page, and a large one fills more. */
function estimatePages({ name, tag = "" }: CreateRequest["plant"]): number {
  return 1 + Math.floor((name.length + tag.length) / pageBytes);
}
