/** Replaces a store with a backup. */
import {
  closeSync,
  createWriteStream,
  existsSync,
  fstatSync,
  openSync,
  read,
  statSync,
} from "node:fs";
import { assertOwnLog } from "./log-file.ts";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { resolve } from "node:path";
import { StoreError } from "../../core/store.ts";
import { type Backup, type FileWork, findBackup, useWholeFile } from "./backup.ts";
import { prepareDatabaseFile, type StoreFile } from "./database-file.ts";
import { toWriteError, writePartialFile } from "../durable-files.ts";
import type { ReplacedFile, RestoredFile } from "./restore-files.ts";
import { type ConnectionThread, useConnection } from "./thread.ts";

/** Options for {@link restoreSqliteFile}. */
export interface RestoreOptions extends FileWork {
  /** Replaces a store that has plants. */
  readonly isForced: boolean;
  /** Is called when the backup is sound, before the store is opened. */
  readonly onChecked?: () => void;
  /** Is called when the store was replaced, before the last files are closed. */
  readonly onReplaced: () => void;
}

/** A finished restore. */
export interface Restore extends Backup {
  /** Path of the store before it; absent if there was none. */
  readonly oldPath?: string | undefined;
}

/**
 * Checks a backup and replaces a store with a copy of it. The store before it remains under another name. At every
 * moment, the path leads to either of them, complete and flushed.
 *
 * @param backup its path
 * @param path of the store
 * @throws StoreError `busy` if another process has the store open
 */
export async function restoreSqliteFile(
  backup: string,
  path: string,
  options: RestoreOptions,
): Promise<Restore> {
  const { source, plants } = await checkBackup(backup);
  options.onChecked?.();
  const target = prepareDatabaseFile(resolve(path), false);
  assertOwnLog(target);
  if (target.identity === source.identity) {
    throw new StoreError("unusable", `the backup ${source.path} is the store itself`);
  }
  // Closing any descriptor of a file drops all locks of the process on it, so that this one is closed after the lock.
  const descriptor = openToRead(target);
  try {
    return await useConnection(
      { ...target, access: "replaced" },
      async (lock: ConnectionThread<ReplacedFile>) => {
        if ((await lock.call("hasPlants")) && !options.isForced) {
          throw new StoreError(
            "unusable",
            `the store ${target.path} has plants: replace it with --force, which keeps it under another name`,
          );
        }
        const oldPath = await replace(target, descriptor, source, options);
        return { path: target.path, plants, bytes: statSync(target.realPath).size, oldPath };
      },
    );
  } finally {
    closeSync(descriptor);
  }
}

function openToRead({ path, realPath }: StoreFile): number {
  try {
    return openSync(realPath, "r");
  } catch (error) {
    throw toWriteError(path, error);
  }
}

async function checkBackup(
  path: string,
): Promise<{ readonly source: StoreFile; readonly plants: number }> {
  try {
    const source = findBackup(path);
    const { plants } = await useWholeFile(source, (thread) => thread.call("check"));
    return { source, plants };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // Here, "the store" is the one to replace.
    const message = error.message.replace(/^the store /, "the backup ");
    throw new StoreError(error.reason, message, { cause: error });
  }
}

/** Replaces a locked store. @returns the path of the store before it */
async function replace(
  { realPath }: StoreFile,
  descriptor: number,
  source: StoreFile,
  { signal, onCopy, onReplaced }: RestoreOptions,
): Promise<string | undefined> {
  return writePartialFile(realPath, signal, async (file) => {
    onCopy(file.readSize);
    await useWholeFile(source, (thread) => thread.call("copyTo", file.path));
    // Upgrades the copy as well.
    await useConnection(
      { ...prepareDatabaseFile(file.path, true), access: "restored" },
      (thread: ConnectionThread<RestoredFile>) => thread.call("renewId"),
    );
    file.copyAccess(fstatSync(descriptor));
    await file.flush();
    const oldPath = await keepOld(realPath, descriptor, signal);
    signal.throwIfAborted();
    file.publish();
    onReplaced();
    return oldPath;
  });
}

/** Copies the store that will be replaced. A hard link in its place could remain after a kill, and `serve` rejects those. */
async function keepOld(
  realPath: string,
  descriptor: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (statSync(realPath).size === 0) return undefined;
  const time = new Date().toISOString().replaceAll(/[-:]/g, "");
  const oldPath = `${realPath}.replaced-${time}`;
  if (existsSync(oldPath)) throw new StoreError("busy", `${oldPath} exists: restore again`);
  return writePartialFile(oldPath, signal, async (file) => {
    await pipeline(readAll(descriptor), createWriteStream(file.path, { flags: "r+" }));
    file.copyAccess(fstatSync(descriptor));
    await file.flush();
    signal.throwIfAborted();
    file.publish();
    return oldPath;
  });
}

const readPiece = promisify(read);
const pieceBytes = 2 ** 20;

/** Reads a file through a descriptor, which stays open. */
async function* readAll(descriptor: number): AsyncGenerator<Buffer, void, undefined> {
  for (let position = 0; ;) {
    const piece = Buffer.allocUnsafe(pieceBytes);
    const { bytesRead } = await readPiece(descriptor, piece, 0, pieceBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}
