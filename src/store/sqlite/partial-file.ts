/** A SQLite file that has a temporary name in its directory until it is complete. */
import { randomBytes } from "node:crypto";
import { closeSync, openSync, promises, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectory } from "./database-file.ts";

/** A file that is not complete yet. */
export interface PartialFile {
  readonly path: string;
  /** Returns the size so far, in bytes. */
  readonly readSize: () => number;
  /** Flushes the content. */
  readonly flush: () => Promise<void>;
  /** Gives the file its final name, over any file of that name. Call {@link PartialFile.flush} before. */
  readonly publish: () => void;
  /** Removes the file, unless it was published. */
  readonly remove: () => void;
}

/**
 * Creates an empty file that only its owner can read.
 *
 * @param finalPath absolute
 */
export function createPartialFile(finalPath: string): PartialFile {
  const path = `${finalPath}.partial-${randomBytes(4).toString("hex")}`;
  closeSync(openSync(path, "wx", 0o600));
  return {
    path,
    readSize: () => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    async flush() {
      const file = await promises.open(path, "r+");
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    },
    publish() {
      renameSync(path, finalPath);
      syncDirectory(dirname(finalPath));
    },
    remove() {
      for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
    },
  };
}
