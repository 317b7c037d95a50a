/** What a failure of SQLite means for the store. */
import { escapeUnprintable } from "../../core/quote.ts";
import { StoreError, type StoreErrorReason } from "../../core/store.ts";

/** A kind of failure. */
export interface Meaning {
  readonly reason: StoreErrorReason;
  /** What is wrong and what to do; goes on from "the store PATH". */
  readonly complaint: string;
}

const locked: Meaning = {
  reason: "busy",
  complaint: "is locked by another process: try again, or stop that process",
};
const noRoom: Meaning = { reason: "full", complaint: "has no room: make room on its disk" };
const readOnly: Meaning = {
  reason: "full",
  complaint: "is read-only: make the file and its directory writable",
};
const corrupt: Meaning = {
  reason: "unusable",
  complaint: "is damaged: restore a backup, or choose another path",
};
const notOpened: Meaning = {
  reason: "unusable",
  complaint: "cannot be opened: check that its directory may be written, or choose another path",
};
const unknown: Meaning = { reason: "failed", complaint: "failed" };

/**
 * By SQLite's result code, the extended one (https://sqlite.org/rescode.html) or else the primary one. SQLite says FULL
 * of a full disk only; an exhausted quota and a limit on the size of files are errors of writing to it.
 */
const meanings: ReadonlyMap<number, Meaning> = new Map([
  [5, locked], // BUSY
  [6, locked], // LOCKED
  [8, readOnly], // READONLY
  [11, corrupt], // CORRUPT
  [13, noRoom], // FULL
  [14, notOpened], // CANTOPEN
  [26, corrupt], // NOTADB
  [778, noRoom], // IOERR_WRITE
  [4874, noRoom], // IOERR_SHMSIZE: no room for the index of the write-ahead log
]);

/** A failure of SQLite as the store's; a StoreError stays what it is. */
export function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  return createStoreError(toMeaning(error), path, error);
}

/** The damage that SQLite found when it was asked to look for it. */
export function createDamageError(path: string, finding: string): StoreError {
  return createStoreError(corrupt, path, new Error(finding));
}

/** Whether SQLite failed because others held a lock. */
export function isBusy(error: unknown): boolean {
  return toMeaning(error) === locked;
}

/** Whether SQLite failed because it could not make or change a file. */
export function isUnwritable(error: unknown): boolean {
  const meaning = toMeaning(error);
  return meaning === readOnly || meaning === notOpened;
}

/** The one line for a failure, or for a refusal that has no cause but itself. */
export function createStoreError(
  { reason, complaint }: Meaning,
  path: string,
  cause?: unknown,
): StoreError {
  const detail = cause instanceof Error ? ` (${cause.message})` : "";
  const message = escapeUnprintable(`the store ${path} ${complaint}${detail}`);
  return new StoreError(reason, message, { cause });
}

/** By SQLite's own words for a result code: all that the package leaves of it when a read of many rows fails. */
const codes: ReadonlyMap<string, number> = new Map([
  ["database is locked", 5],
  ["database disk image is malformed", 11],
]);

function toMeaning(error: unknown): Meaning {
  if (!(error instanceof Error)) return unknown;
  const code = "errcode" in error ? Number(error.errcode) : (codes.get(error.message) ?? 0);
  return meanings.get(code) ?? meanings.get(code & 0xff) ?? unknown;
}
