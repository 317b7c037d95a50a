/** Writes a SQLite file that has its name only once it is complete. */
import { renameSync, rmSync, type Stats, statSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory, toWriteError } from "../durable-files.ts";

/** A SQLite file that has a temporary name in its directory until it is complete. */
export interface PartialFile {
  readonly path: string;
  /** Returns the size so far, in bytes. */
  readonly readSize: () => number;
  readonly write: (chunks: AsyncIterable<Uint8Array>) => Promise<void>;
  /** Gives the file the owner and the mode of another one. Has an effect only for root. */
  readonly copyAccess: (from: Pick<Stats, "uid" | "gid" | "mode">) => Promise<void>;
  readonly flush: () => Promise<void>;
  /**
   * Gives the file its final name, over any file of that name. Call {@link PartialFile.flush} before.
   *
   * @throws the reason of the signal if it is aborted
   */
  readonly publish: () => void;
}

/**
 * Creates an empty file that only its owner can read, for `work` to fill, flush and publish. Removes the file if `work`
 * fails, or as soon as the signal is aborted.
 *
 * @param finalPath absolute
 * @throws StoreError for an error of the file system: `full` without room
 */
export async function writePartialFile<T>(
  finalPath: string,
  signal: AbortSignal,
  work: (file: PartialFile) => Promise<T>,
): Promise<T> {
  const number = Math.trunc(Math.random() * 2 ** 32);
  const path = `${finalPath}.partial-${number.toString(16).padStart(8, "0")}`;
  const remove = (): void => {
    for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  };
  signal.addEventListener("abort", remove);
  try {
    const file = await open(path, "wx", 0o600);
    try {
      return await work({
        path,
        readSize: () => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
        write: (chunks) => writeFile(file, chunks),
        async copyAccess({ uid, gid, mode }) {
          // A new file belongs to the user of this process.
          if ((await file.stat()).uid !== 0) return;
          await file.chown(uid, gid);
          await file.chmod(mode & 0o777);
        },
        flush: () => file.sync(),
        publish() {
          signal.throwIfAborted();
          renameSync(path, finalPath);
          syncDirectory(dirname(finalPath));
        },
      });
    } finally {
      await file.close();
    }
  } catch (error) {
    remove();
    throw signal.aborted ? error : toWriteError(finalPath, error);
  }
}
