/**
 * The write-ahead log as a file (https://sqlite.org/fileformat2.html#the_write_ahead_log). SQLite trusts its index of the
 * log: it continues in a log that another program emptied, and everything in it is lost with the index.
 */
import { type BigIntStats, closeSync, ftruncateSync, openSync, readSync, statSync } from "node:fs";
import { attempt } from "../../core/attempt.ts";
import type { StoreError } from "../../core/store.ts";
import { createStoreError, type Meaning, unusable } from "../store-failure.ts";
import { isCutShort, pauseThread } from "./driver.ts";

/** A file that is a plant store, or an empty file that becomes one. */
export interface StoreFile {
  /** Absolute path as the operator named it, for messages. */
  readonly path: string;
  /** The path without symbolic links. SQLite keeps its log in the same directory. */
  readonly realPath: string;
  /** See {@link toIdentity}. */
  readonly identity: string;
}

/** Distinguishes a file from all others that exist at the same time. */
export function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

const headerLength = 32;
const frameHeaderLength = 24;

/** A commit that another connection makes or copies at the same time is seen halfway at most this often. */
const maxReads = 10;

/** The calls of a guard on its connection. */
interface GuardedConnection {
  /** Commits a change, which begins the log if it is empty. */
  readonly write: () => void;
  /** Returns the size of the database after its latest commit, in bytes, wherever its pages are. */
  readonly findSize: () => number;
}

/**
 * Creates the guard of an open connection. It finds a log that was emptied or overwritten, and a database that became
 * smaller because another file was copied over it. From then on, it rejects every change. The thread of the caller finds
 * files that were removed or replaced (see store-file.ts).
 */
export function createFileGuard(
  { path, realPath, identity }: StoreFile,
  { write, findSize }: GuardedConnection,
) {
  // SQLite takes no locks on the log, so that closing it drops none. Closing the database here would.
  const log = openSync(`${realPath}-wal`, "r+");
  let size = 0n;
  let fault: StoreError | undefined;

  /** Checks whether the database became smaller. SQLite itself shrinks it for VACUUM only. */
  function isSmaller(): boolean {
    const found = statSync(realPath, { bigint: true, throwIfNoEntry: false });
    if (found === undefined || toIdentity(found) !== identity) return false;
    if (found.size < size) return true;
    ({ size } = found);
    return false;
  }

  /** Checks whether another file was copied over the database, instead of a VACUUM by another process. */
  function isOverwritten(): boolean {
    try {
      return findSize() >= size;
    } catch {
      return true;
    }
  }

  /** Rejects everything from now on, and keeps what the log still has out of the database. */
  function fail(meaning: Meaning, keepsLog = false): never {
    // Copying it would damage the database, also when the last connection is closed. SQLite cannot read an empty log.
    if (!keepsLog) ftruncateSync(log);
    throw (fault = createStoreError(meaning, path));
  }

  function assertDatabase(): void {
    if (fault !== undefined) throw fault;
    if (!isSmaller()) return;
    if (isOverwritten()) fail(overwritten);
    fail(shrunk, true);
  }

  /** Asserts that the log has all commits that its index names: then it has a header. */
  function assertLog(): void {
    for (let reads = 0; reads < maxReads; reads++) {
      const header = readHeader(log);
      if (header !== undefined && isValidHeader(header)) return;
      // Another process may have moved all commits into the database. The next one begins a log, unless the index has others.
      if (header === undefined) write();
      else pauseThread();
    }
    fail(emptied);
  }

  isSmaller();
  return {
    /** Makes a change, and asserts that it is in the files. @throws what `change` throws, or a StoreError */
    change<T>(change: () => T): T {
      assertDatabase();
      try {
        const result = change();
        assertDatabase();
        assertLog();
        return result;
      } catch (error) {
        assertDatabase();
        if (isCutShort(error)) fail(emptied);
        throw error;
      }
    },
    /** Asserts that nothing but commits would be copied into the database. */
    assertBeforeCheckpoint(): void {
      assertDatabase();
      const header = readHeader(log);
      // An empty log has nothing to copy, whatever its index says.
      if (header !== undefined) assertLog();
    },
    close: (): void => closeSync(log),
  };
}

/** @returns undefined for an empty log */
function readHeader(log: number): Buffer | undefined {
  const header = Buffer.alloc(headerLength);
  return readSync(log, header, 0, headerLength, 0) === 0 ? undefined : header;
}

/** The lowest bit is 1 if the checksums use big-endian integers. */
const magic = 0x377f0682;

function isValidHeader(header: Buffer): boolean {
  const found = header.readUInt32BE(0);
  if ((found & ~1) !== magic) return false;
  const read = (offset: number): number =>
    found === magic ? header.readUInt32LE(offset) : header.readUInt32BE(offset);
  let [first, second] = [0, 0];
  for (let offset = 0; offset < 24; offset += 8) {
    first = (first + read(offset) + second) >>> 0;
    second = (second + read(offset + 4) + first) >>> 0;
  }
  return header.readUInt32BE(24) === first && header.readUInt32BE(28) === second;
}

/** SQLite never uses the page that contains this byte: its locks are there. */
const lockByte = 2 ** 30;

/**
 * Asserts that a log belongs to its database, before SQLite opens both and copies the log into the database.
 *
 * @throws StoreError
 */
export function assertOwnLog({ path, realPath }: StoreFile): void {
  // SQLite reports a log that cannot be read.
  if (attempt(() => findMissingPage(realPath)) !== undefined) throw createStoreError(foreign, path);
}

/**
 * Finds a page that neither the database nor its log has, although the latest commit in the log needs it. Such a log
 * belongs to another file, and SQLite would damage the database with it. The log is read before the size of
 * the database, because other processes may copy it into the database meanwhile.
 *
 * @returns the number of the page, counted from 1
 */
function findMissingPage(realPath: string): number | undefined {
  const path = `${realPath}-wal`;
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= headerLength) return undefined;
  const log = openSync(path, "r");
  try {
    const header = readHeader(log);
    if (header === undefined || !isValidHeader(header)) return undefined;
    const pageBytes = header.readUInt32BE(8);
    const { pages, length } = readCommits(log, header, pageBytes);
    const { size } = statSync(realPath);
    for (let page = Math.floor(size / pageBytes) + 1; page <= length; page++) {
      if (!pages.has(page) && page !== lockByte / pageBytes + 1) return page;
    }
    return undefined;
  } finally {
    closeSync(log);
  }
}

/** Reads the headers of the frames up to the last commit. @returns their pages, and the length of the database in pages after it */
function readCommits(log: number, header: Buffer, pageBytes: number) {
  const frame = Buffer.alloc(frameHeaderLength);
  const pages = new Set<number>();
  let uncommitted: number[] = [];
  let length = 0;
  for (let offset = headerLength; ; offset += frameHeaderLength + pageBytes) {
    const isRead = readSync(log, frame, 0, frameHeaderLength, offset) === frameHeaderLength;
    // A frame with another salt was left by the log before it was started again.
    if (!isRead || frame.compare(header, 16, 24, 8, 16) !== 0) return { pages, length };
    uncommitted.push(frame.readUInt32BE(0));
    const lengthAfter = frame.readUInt32BE(4);
    if (lengthAfter === 0) continue;
    for (const page of uncommitted) pages.add(page);
    uncommitted = [];
    length = lengthAfter;
  }
}

const foreign = unusable(
  'has a log that belongs to another file and would damage it: put that file back, or move the log, which ends in -wal, to another directory and use "plantstore restore"',
);
const emptied: Meaning = {
  reason: "full",
  problem:
    "lost commits while it was in use: the file that ends in -wal was emptied or overwritten. Stop every plantstore process on this store, start again, and create the latest plants again",
};
const overwritten: Meaning = {
  reason: "full",
  problem:
    'was overwritten while it was in use. Stop every plantstore process on this store, then put a backup in place with "plantstore restore"',
};
const shrunk: Meaning = {
  reason: "full",
  problem:
    "became smaller while it was in use, for example by VACUUM: stop every plantstore process on this store, then start again",
};
