/** Backups of a store in one SQLite file: makes them and checks them. */
import { assertOwnLog } from "./log-file.ts";
import { existsSync, lstatSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { StoreError } from "../../core/store.ts";
import {
  NotDatabaseError,
  prepareDatabaseFile,
  type StoreFile,
  toIdentity,
  toOpenError,
} from "./database-file.ts";
import { toWriteError, writePartialFile } from "../durable-files.ts";
import { assertSqliteInstalled } from "./provider.ts";
import { type ConnectionThread, useConnection } from "./thread.ts";
import type { StoreContents, WholeFile } from "./whole-file.ts";

/** How a long operation on files is watched and stopped. */
export interface FileWork {
  /** Removes what was written so far at once. SQLite itself cannot be stopped: end the process. */
  readonly signal: AbortSignal;
  /** Is called before the copy starts, with a function that returns its size so far in bytes. */
  readonly onCopy: (readSize: () => number) => void;
}

/** Options for {@link backupSqliteFile}. */
export interface BackupOptions extends FileWork {
  /** Replaces an existing file. */
  readonly isForced: boolean;
}

/** A finished backup. */
export interface Backup {
  /** Absolute. */
  readonly path: string;
  readonly plants: number;
  readonly bytes: number;
}

/**
 * Copies a store to a file while others write to it. Everything that was acknowledged before is in the copy. The file has its
 * name only once it is complete and flushed.
 *
 * @param path of the store
 * @param target of the copy
 * @throws StoreError
 */
export async function backupSqliteFile(
  path: string,
  target: string,
  { isForced, signal, onCopy }: BackupOptions,
): Promise<Backup> {
  assertSqliteInstalled();
  const store = prepareDatabaseFile(resolve(path), true);
  assertOwnLog(store);
  const targetPath = resolve(target);
  try {
    assertFree(targetPath, store, isForced);
  } catch (error) {
    throw toWriteError(targetPath, error);
  }
  return writePartialFile(targetPath, signal, async (file) => {
    onCopy(file.readSize);
    const plants = await useWholeFile(store, (thread) => thread.call("copyTo", file.path));
    signal.throwIfAborted();
    await file.flush();
    signal.throwIfAborted();
    assertFree(targetPath, store, isForced);
    const bytes = file.readSize();
    file.publish();
    return { path: targetPath, plants, bytes };
  });
}

/**
 * Checks every page and every plant of a store or a backup, and changes nothing.
 *
 * @throws StoreError with what it finds first
 */
export async function verifySqliteFile(path: string): Promise<StoreContents> {
  return useWholeFile(findBackup(path), (thread) => thread.call("check"));
}

/** Finds a backup, or a store that is treated as one. @throws StoreError */
export function findBackup(path: string): StoreFile {
  assertSqliteInstalled();
  const file = resolve(path);
  const found = findFile(file);
  if (found === undefined) {
    throw new StoreError("unusable", `the backup ${file} does not exist: check the path`);
  }
  if (found.isFile() && found.size === 0) {
    const problem = "is empty, so it is not a backup: choose another file";
    throw new StoreError("unusable", `the file ${file} ${problem}`);
  }
  try {
    const store = prepareDatabaseFile(file, true);
    assertOwnLog(store);
    return store;
  } catch (error) {
    if (!(error instanceof NotDatabaseError)) throw error;
    const message = `the file ${file} is not a SQLite database: name a backup or a store`;
    throw new StoreError("unusable", message, { cause: error });
  }
}

function findFile(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw toOpenError(path, error, true);
  }
}

/** Opens a store as a whole on a thread of its own, and always closes it. */
export function useWholeFile<T>(
  file: StoreFile,
  work: (thread: ConnectionThread<WholeFile>) => Promise<T>,
): Promise<T> {
  return useConnection({ ...file, access: "whole" }, work);
}

/** Asserts that a backup may get a name. @throws StoreError */
function assertFree(path: string, store: StoreFile, isForced: boolean): void {
  const reject = (problem: string): never => {
    throw new StoreError("unusable", `the backup ${path} ${problem}`);
  };
  const directory = statSync(dirname(path), { throwIfNoEntry: false });
  if (directory?.isDirectory() !== true) reject("has no directory: create it first");
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
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile()) reject("is not a regular file: choose another name");
  if (toIdentity(found) === store.identity) reject("is the store itself: choose another name");
  if (!isForced) reject("exists: choose another name, or replace it with --force");
}
