/** Writes a SQLite file that has its name only once it is complete. */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  promises,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { syncDirectory, toWriteError } from "../durable-files.ts";

/** A SQLite file that has a temporary name in its directory until it is complete. */
export interface PartialFile {
  readonly path: string;
  /** Returns the size so far, in bytes. */
  readonly readSize: () => number;
  /** Gives the file the owner and the mode of another one. Has an effect only for root. */
  readonly copyAccess: (from: Pick<Stats, "uid" | "gid" | "mode">) => void;
  /** Flushes the content. */
  readonly flush: () => Promise<void>;
  /** Gives the file its final name, over any file of that name. Call {@link PartialFile.flush} before. */
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
    closeSync(openSync(path, "wx", 0o600));
    return await work({
      path,
      readSize: () => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
      copyAccess: (from) => copyAccess(path, from),
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
    });
  } catch (error) {
    remove();
    throw signal.aborted ? error : toWriteError(finalPath, error);
  }
}

const permissionBits = 0o777;

function copyAccess(path: string, { uid, gid, mode }: Pick<Stats, "uid" | "gid" | "mode">): void {
  // The owner of the directory may have put a link to another file in its place.
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const { uid: creator, nlink } = fstatSync(file);
    // This process created the file, so that it belongs to its user.
    if (creator !== 0 || nlink !== 1) return;
    fchownSync(file, uid, gid);
    fchmodSync(file, mode & permissionBits);
  } finally {
    closeSync(file);
  }
}
