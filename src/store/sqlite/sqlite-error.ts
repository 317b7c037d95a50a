/** Maps the errors of SQLite. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { hasTooManyFiles, type StoreError } from "../../core/store.ts";
import { createFailureMap, createStoreError, failures, type Meaning } from "../store-failure.ts";

/**
 * Meanings by SQLite's result code, extended or primary (https://sqlite.org/rescode.html). SQLite reports FULL only for a
 * full disk; an exhausted quota and a limit on the size of files are write errors.
 */
const meanings: ReadonlyMap<number, Meaning> = new Map([
  [5, failures.locked], // BUSY
  [6, failures.locked], // LOCKED
  [8, failures.readOnly], // READONLY
  [10, failures.inputOutput], // IOERR
  [11, failures.damaged], // CORRUPT
  [13, failures.noRoom], // FULL
  [14, failures.notOpened], // CANTOPEN
  [26, failures.damaged], // NOTADB
  [778, failures.noRoom], // IOERR_WRITE
  [4874, failures.noRoom], // IOERR_SHMSIZE: the disk is too full for the index of the write-ahead log
]);

/** Result codes by SQLite's message. Node omits the code when reading many rows fails. */
const codesByMessage: ReadonlyMap<string, number> = new Map([
  ["database is locked", 5],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
]);

const { toMeaning, toStoreError: toUsualError } = createFailureMap(meanings, (error) => {
  const code =
    "errcode" in error ? Number(error.errcode) : (codesByMessage.get(error.message) ?? 0);
  return [code, code & 0xff];
});

/** Maps an error to the store's; a StoreError stays the same. */
export function toStoreError(error: unknown, place: string): StoreError {
  return toMeaning(error) === failures.notOpened && isShortOfFiles()
    ? createStoreError(failures.noFiles, place, error)
    : toUsualError(error, place);
}

/** More than SQLite opens at once for a database: the file, its log, its journal and their directory. */
const filesOfDatabase = 8;

/** Checks whether the process can open few more files. SQLite does not report why it cannot open one. */
function isShortOfFiles(): boolean {
  const files: number[] = [];
  try {
    while (files.length < filesOfDatabase) files.push(openSync(devNull, "r"));
    return false;
  } catch (error) {
    return hasTooManyFiles(error);
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** Creates the error for damage that SQLite found in a check. */
export function createDamageError(path: string, finding: string): StoreError {
  return createStoreError(failures.damaged, path, new Error(finding.replaceAll("\n", " ")));
}

/** Checks whether SQLite failed because another connection held a lock. */
export function isBusy(error: unknown): boolean {
  return toMeaning(error) === failures.locked;
}

/** Checks whether SQLite failed because it could not create or change a file. */
export function isUnwritable(error: unknown): boolean {
  const meaning = toMeaning(error);
  return meaning === failures.readOnly || meaning === failures.notOpened;
}

/** Checks whether SQLite may have failed because it could not create, write or extend a file. */
export function isWriteFailure(error: unknown): boolean {
  const meaning = toMeaning(error);
  return isUnwritable(error) || meaning === failures.noRoom || meaning === failures.inputOutput;
}

/** Checks whether SQLite expected more in a file: the log, if the database has its size (522: IOERR_SHORT_READ). */
export function isCutShort(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === 522;
}

/** Checks whether SQLite found damage. */
export function isDamaged(error: unknown): boolean {
  return toMeaning(error) === failures.damaged;
}
