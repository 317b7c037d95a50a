/** Writes files that survive a power failure. */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  promises,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { platform } from "node:os";
import { dirname } from "node:path";
import { StoreError } from "../core/store.ts";
import { isError, toSystemReason } from "../core/messages.ts";
import { toCode } from "./store-failure.ts";

const isWindows = platform() === "win32";

/**
 * Flushes the entries of a directory. Windows has no such operation, and needs none. Without permission to read the
 * directory, it cannot be flushed; SQLite ignores that too.
 */
export function syncDirectory(path: string): void {
  if (isWindows) return;
  try {
    syncFile(path);
  } catch (error) {
    if (toCode(error) !== "EACCES") throw error;
  }
}

/**
 * Creates a directory and the missing ones above it, for their owner only, and flushes them.
 *
 * Node 20: a recursive mkdir never returns where no directory can be created, as in /proc.
 *
 * @param path absolute and normalized
 */
export function createDirectory(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  createDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same time may have created it.
    if (!existsSync(path)) throw error;
  }
  syncDirectory(parent);
}

/** Flushes what any process has written to a file. Only Windows needs the permission to write. */
function syncFile(path: string): void {
  const file = openSync(path, isWindows ? "r+" : "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Flushes the log of a database, if it has one, and its directory entry. A process that was killed between writing and
 * flushing a commit leaves the commit in the cache of the operating system, where SQLite finds it. Without this flush, a
 * repeated create would be acknowledged as `unchanged` although a power failure could still lose the plant. (SQLite takes
 * no locks on the log, so that closing it here drops none.)
 */
export function flushLog(path: string): void {
  if (!existsSync(`${path}-wal`)) return;
  syncFile(`${path}-wal`);
  syncDirectory(dirname(path));
}

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

/** A full disk, an exhausted quota, or a limit on the size of files. */
const noRoomCodes: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Maps an error of the file system to a StoreError; any other error stays the same. */
export function toWriteError(path: string, error: unknown): unknown {
  const code = toCode(error);
  if (!isError(error) || code === "") return error;
  const isFull = noRoomCodes.has(code);
  const advice = isFull
    ? "free some space on its disk, or choose another place"
    : "choose another place, or change the permissions";
  const message = `${path} cannot be written: ${advice} (${toSystemReason(error)})`;
  return new StoreError(isFull ? "full" : "unusable", message, { cause: error });
}
