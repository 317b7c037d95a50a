/** The write-ahead log as a file (https://sqlite.org/fileformat2.html#the_write_ahead_log), before SQLite opens it. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { attempt } from "../../core/attempt.ts";
import { createStoreError, unusable } from "../store-failure.ts";

const headerLength = 32;
const frameHeaderLength = 24;

/** The lowest bit tells the order of bytes in checksums. */
const magic = 0x377f0682;

/** SQLite never uses the page that contains this byte: its locks are there. */
const lockByte = 2 ** 30;

/**
 * Asserts that a log belongs to its database, before SQLite opens both and copies the log into the database.
 *
 * @param path as the operator named it, for messages
 * @param realPath without symbolic links
 * @throws StoreError
 */
export function assertOwnLog(path: string, realPath: string): void {
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
    const header = Buffer.alloc(headerLength);
    readSync(log, header, 0, headerLength, 0);
    // SQLite drops a log that begins in another way.
    if ((header.readUInt32BE(0) & ~1) !== magic) return undefined;
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
