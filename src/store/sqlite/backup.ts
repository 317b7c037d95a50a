/** Backs up, verifies and restores a SQLite file, with the work on threads. Loaded on demand. */
import { existsSync, lstatSync, renameSync, rmSync, type Stats, statSync } from "node:fs";
import { type FileHandle, open, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  type Backup,
  type BackupOptions,
  type Restore,
  type RestoreOptions,
  type StoreContents,
  StoreError,
  useAndClose,
} from "../../core/store.ts";
import { assertDirectory, syncDirectory, toWriteError } from "../durable-files.ts";
import type { ReplacedFile, WholeFile } from "./backup-worker.ts";
import { assertSqliteInstalled } from "./driver.ts";
import { prepareDatabaseFile, type StoreFile, toIdentity } from "./store-file.ts";
import { type ConnectionThread, createConnectionThread } from "./thread.ts";

/**
 * Copies a store to a file while others write to it. Everything that was acknowledged before is in the copy. The file has its
 * name only once it is complete and flushed.
 *
 * @throws StoreError
 */
export async function backupSqliteFile(
  path: string,
  target: string,
  { isForced, signal, onCopy }: BackupOptions,
): Promise<Backup> {
  assertSqliteInstalled();
  const store = prepareDatabaseFile(resolve(path), true);
  const targetPath = resolve(target);
  try {
    assertFree(targetPath, store, isForced);
  } catch (error) {
    throw toWriteError(targetPath, error);
  }
  return writePartialFile(targetPath, signal, async (file) => {
    onCopy(file.readSize);
    const plants = await useWholeFile(store, (thread) => thread.call("copyTo", file.path));
    await file.flush();
    assertFree(targetPath, store, isForced);
    const bytes = file.readSize();
    file.publish();
    return { path: targetPath, plants, bytes };
  });
}

/** Checks every page and plant of a store or a backup, and changes nothing. @throws StoreError with its first finding */
export async function verifySqliteFile(path: string): Promise<StoreContents> {
  return (await checkFile(path)).contents;
}

async function checkFile(
  path: string,
): Promise<{ readonly source: StoreFile; readonly contents: StoreContents }> {
  assertSqliteInstalled();
  try {
    const source = prepareDatabaseFile(resolve(path), true);
    const contents = await useWholeFile(source, (thread) => thread.call("check"));
    return { source, contents };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // The file may be a backup, and "the store" is that of --store.
    const message = error.message.replace(/^the store /, "the file ");
    throw new StoreError(error.reason, message, { cause: error, command: error.command });
  }
}

/** Opens a store as a whole on a thread of its own. */
function useWholeFile<T>(
  file: StoreFile,
  work: (thread: ConnectionThread<WholeFile>) => Promise<T>,
): Promise<T> {
  const target = { ...file, access: "whole" } as const;
  return useAndClose(
    createConnectionThread<WholeFile>(file.path, () => target),
    work,
  );
}

/** Asserts that a backup may get a name. @throws StoreError */
function assertFree(path: string, store: StoreFile, isForced: boolean): void {
  const reject = (problem: string): never => {
    throw new StoreError("unusable", `the file ${path} ${problem}`);
  };
  assertDirectory(path);
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found !== undefined && toIdentity(found) === store.identity) {
    reject("is the store itself: choose another name");
  }
  for (const suffix of ["-wal", "-journal"]) {
    // SQLite would take the log for that of the backup.
    if (existsSync(path + suffix)) {
      reject(`would get the log of another store (${path}${suffix}): choose another name`);
    }
  }
  const [, database] = /^(.+)-(?:wal|shm|journal)$/s.exec(path) ?? [];
  if (database !== undefined && existsSync(database)) {
    reject(`would be read as a part of ${database}: choose another name`);
  }
  if (found === undefined) return;
  if (!found.isFile()) reject("is not a regular file: choose another name");
  if (!isForced) reject("exists: choose another name, or replace it with --force");
}

/**
 * Checks a backup and replaces a store with a copy of it. The store before it remains under another name. At every
 * moment, the path leads to either of them, complete and flushed.
 *
 * @throws StoreError `busy` if another process has the store open
 */
export async function restoreSqliteFile(
  backup: string,
  path: string,
  options: RestoreOptions,
): Promise<Restore> {
  const { source, contents } = await checkFile(backup);
  options.onChecked?.();
  const target = prepareDatabaseFile(resolve(path), false);
  if (target.identity === source.identity) {
    throw new StoreError("unusable", `the file ${source.path} is the store itself: name a backup`);
  }
  // Closing any descriptor of a file drops all locks of the process on it, so that this one is closed after the lock.
  const old = await open(target.realPath, "r");
  try {
    const locked = { ...target, access: "replaced" } as const;
    const thread = createConnectionThread<ReplacedFile>(target.path, () => locked);
    return await useAndClose(thread, async (lock) => {
      if ((await lock.call("hasPlants")) && !options.isForced) {
        throw new StoreError(
          "unusable",
          `the store ${target.path} has plants: replace it with --force, which keeps it under another name`,
        );
      }
      const oldPath = await replace(target, old, source, options);
      const { size: bytes } = statSync(target.realPath);
      return { path: target.path, plants: contents.plants, bytes, oldPath };
    });
  } finally {
    await old.close();
  }
}

/** Replaces a locked store. @returns the path of the store before it */
async function replace(
  { realPath }: StoreFile,
  old: FileHandle,
  source: StoreFile,
  { signal, onCopy, onReplaced }: RestoreOptions,
): Promise<string | undefined> {
  return writePartialFile(realPath, signal, async (file) => {
    onCopy(file.readSize);
    await useWholeFile(source, (thread) => thread.call("copyTo", file.path));
    await file.copyAccess(await old.stat());
    await file.flush();
    const oldPath = await keepOld(realPath, old, signal);
    file.publish();
    onReplaced();
    return oldPath;
  });
}

/** Copies the store that will be replaced. A hard link in its place could remain after a kill, and `serve` rejects those. */
async function keepOld(
  realPath: string,
  old: FileHandle,
  signal: AbortSignal,
): Promise<string | undefined> {
  const stats = await old.stat();
  if (stats.size === 0) return undefined;
  const time = new Date().toISOString().replaceAll(/[-:]/g, "");
  const oldPath = `${realPath}.replaced-${time}`;
  return writePartialFile(oldPath, signal, async (file) => {
    await file.write(readFrom(old));
    await file.copyAccess(stats);
    await file.flush();
    file.publish();
    return oldPath;
  });
}

/** Reads a file. A stream would close it, and thereby drop the lock, when its reader fails. */
async function* readFrom(file: FileHandle): AsyncGenerator<Uint8Array, void, undefined> {
  const chunk = Buffer.allocUnsafe(2 ** 20);
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/**
 * Creates an empty file that only its owner can read, for `work` to fill, flush and publish. Removes the file if `work`
 * fails, or as soon as the signal is aborted.
 *
 * @param finalPath absolute
 * @throws StoreError for an error of the file system: `full` without room
 */
async function writePartialFile<T>(
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
    return await useAndClose(createPartialFile(path, finalPath, file, signal), work);
  } catch (error) {
    remove();
    throw signal.aborted ? error : toWriteError(finalPath, error);
  }
}

/** A file that has a temporary name in its directory until it is complete. */
type PartialFile = ReturnType<typeof createPartialFile>;

function createPartialFile(path: string, finalPath: string, file: FileHandle, signal: AbortSignal) {
  return {
    path,
    /** Returns the size so far, in bytes. */
    readSize: () => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    write: (chunks: AsyncIterable<Uint8Array>) => writeFile(file, chunks),
    /** Gives the file the owner and the mode of another one. Has an effect only for root. */
    async copyAccess({ uid, gid, mode }: Pick<Stats, "uid" | "gid" | "mode">) {
      // A new file belongs to the user of this process.
      if ((await file.stat()).uid !== 0) return;
      await file.chown(uid, gid);
      await file.chmod(mode & 0o777);
    },
    flush: () => file.sync(),
    /** Gives the flushed file its final name, over any file of that name. @throws the signal's reason if it is aborted */
    publish() {
      signal.throwIfAborted();
      renameSync(path, finalPath);
      syncDirectory(dirname(finalPath));
    },
    close: () => file.close(),
  };
}
