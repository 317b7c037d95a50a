/** The file of a database: made when it is missing, and recognised as a plant store before SQLite may touch it. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { StoreError } from "../../core/store.ts";
import { createDirectory, syncDirectory } from "./directory.ts";
import { type Meaning, createStoreError } from "./failure.ts";

/** "PLNT": marks a SQLite file as a plant store (https://sqlite.org/fileformat.html, the application id). */
export const applicationId = 0x504c4e54;

const magic = "SQLite format 3\0";
const applicationIdOffset = 68;
const headerLength = 100;

/**
 * Files that this process knows to be plant stores. None is ever taken off, because SQLite may still have it open: the
 * package closes a connection for good when the garbage collector has taken its statements.
 */
const recognised = new Set<string>();

/**
 * Makes sure that a path is a plant store, or an empty file that may become one; creates it when it is missing. SQLite
 * itself cannot be asked: it would replay the journal of a file that is not ours, or leave a log beside it.
 *
 * @param path absolute
 * @throws StoreError
 */
export function prepareDatabaseFile(path: string): void {
  try {
    createDirectory(dirname(path));
    refuseLoneLog(path);
    recognise(path, constants.O_RDWR | constants.O_CREAT);
  } catch (error) {
    throw error instanceof StoreError ? error : createStoreError(toMeaning(error), path, error);
  }
}

/** SQLite takes a log without its database for that of another one, and drops it with the commits that it holds. */
function refuseLoneLog(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) throw createStoreError(loneLog, path);
}

/**
 * Makes sure that a path is a plant store already, and changes nothing.
 *
 * @param path absolute
 * @throws StoreError
 */
export function findDatabaseFile(path: string): void {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    const isEmpty = found?.isFile() === true && found.size === 0n;
    if (found === undefined || isEmpty) throw createStoreError(missing, path);
    recognise(path, constants.O_RDONLY);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const meaning = toMeaning(error);
    throw createStoreError(meaning === notWritable ? notReadable : meaning, path, error);
  }
}

function recognise(path: string, flags: number): void {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found?.isFile() === false) throw createStoreError(notFile, path);
  // Closing any descriptor of a file drops all locks that the process has on it, SQLite's included
  // (https://sqlite.org/howtocorrupt.html, 2.2): a file that SQLite may have open is not opened once more.
  if (found !== undefined && recognised.has(toMark(found))) return;

  const file = openSync(path, flags, 0o600);
  try {
    const stats = fstatSync(file, { bigint: true });
    if (stats.size === 0n) syncDirectory(dirname(path));
    else checkHeader(file, path);
    recognised.add(toMark(stats));
  } finally {
    closeSync(file);
  }
}

/** By which a file is told from another one that is there at the same time. */
export function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** The number of a deleted file may be given to a new one, but not its time of birth. */
function toMark(stats: BigIntStats): string {
  return `${toIdentity(stats)}:${stats.birthtimeNs}`;
}

function checkHeader(file: number, path: string): void {
  const header = Buffer.alloc(headerLength);
  readSync(file, header, 0, headerLength, 0);
  if (!header.toString("latin1").startsWith(magic)) throw createStoreError(notDatabase, path);
  const id = header.readUInt32BE(applicationIdOffset);
  if (id !== applicationId) throw createStoreError(foreign, path);
}

const notFile: Meaning = {
  reason: "unusable",
  complaint: "is a directory or a device: name a file",
};
const notDatabase: Meaning = {
  reason: "unusable",
  complaint: "is not a SQLite database: choose another path, or move that file away",
};
/** The refusal of a file that is not ours; its tables may tell what its header does not. */
export const foreign: Meaning = {
  reason: "unusable",
  complaint: "is the SQLite database of another program: choose another path",
};
const notWritable: Meaning = {
  reason: "unusable",
  complaint: "may not be written: choose another path, or change the permissions",
};
const notReadable: Meaning = {
  reason: "unusable",
  complaint: "may not be read: ask its owner, or change the permissions",
};
const missing: Meaning = {
  reason: "unusable",
  complaint: 'does not exist: check the path, or create it with "plantstore serve"',
};
const loneLog: Meaning = {
  reason: "unusable",
  complaint:
    "is missing, and its log with the last plants is there: put the file back, or remove the one that ends in -wal",
};
const belowFile: Meaning = {
  reason: "unusable",
  complaint: "lies below something that is not a directory: choose another path",
};
const noRoom: Meaning = { reason: "full", complaint: "has no room: make room on its disk" };
const notOpened: Meaning = {
  reason: "unusable",
  complaint: "cannot be opened: choose another path",
};

const meanings: ReadonlyMap<string, Meaning> = new Map([
  ["EACCES", notWritable],
  ["EPERM", notWritable],
  ["EROFS", notWritable],
  ["EEXIST", belowFile],
  ["ENOTDIR", belowFile],
  ["ENOSPC", noRoom],
  ["EDQUOT", noRoom],
]);

function toMeaning(error: unknown): Meaning {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return meanings.get(code) ?? notOpened;
}
