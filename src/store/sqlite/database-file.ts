/** Finds or creates the file of a database, and recognises it as a plant store before SQLite opens it. */
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { hasTooManyFiles, StoreError } from "../../core/store.ts";
import { createStoreError, failures, type Meaning, toCode, unusable } from "../store-failure.ts";
import { syncDirectory } from "../durable-files.ts";

/** A file that is a plant store, or an empty file that becomes one. */
export interface StoreFile {
  /** Absolute path as the operator named it, for messages. */
  readonly path: string;
  /** The path without symbolic links. SQLite keeps its log in the same directory. */
  readonly realPath: string;
  /** See {@link toIdentity}. */
  readonly identity: string;
}

/** "PLNT": marks a SQLite file as a plant store (https://sqlite.org/fileformat.html, the application id). */
export const applicationId = 0x504c4e54;

/** The error for a file of another format. */
export class NotDatabaseError extends StoreError {
  constructor(path: string) {
    const advice = "choose another path, or move that file away";
    super(
      "unusable",
      createStoreError(unusable(`is not a SQLite database: ${advice}`), path).message,
    );
  }
}

const magic = "SQLite format 3\0";
const applicationIdOffset = 68;
const headerLength = 100;

/**
 * Files that this process knows to be plant stores. They are never removed from the set, because SQLite may still have
 * them open: the package closes a connection only when the garbage collector has freed its statements.
 */
const recognised = new Set<string>();

/**
 * Finds the plant store at a path; creates the file if it is missing, but not its directory. SQLite
 * cannot be asked: it would replay the journal of a foreign file, or create a log for it.
 *
 * @param path absolute
 * @param mustExist rejects a missing or empty file, and changes nothing
 * @throws StoreError
 */
export function prepareDatabaseFile(path: string, mustExist: boolean): StoreFile {
  try {
    const realPath = resolveLinks(path);
    const hasLog = (statSync(`${realPath}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // After the log, because another process may create both.
    const found = statSync(realPath, { bigint: true, throwIfNoEntry: false });
    if (mustExist) {
      if (found === undefined) throw createStoreError(missing, path);
      if (found.isFile() && found.size === 0n) throw createStoreError(empty, path);
    } else {
      if (!existsSync(dirname(realPath))) throw createStoreError(noDirectory, path);
      // SQLite mistakes the log for that of another database, and drops it with the commits in it.
      const isLoneLog = hasLog && (found === undefined || found.size === 0n);
      if (isLoneLog) throw createStoreError(loneLog, path);
    }
    const flags = mustExist ? constants.O_RDONLY : constants.O_RDWR | constants.O_CREAT;
    const identity = toIdentity(recognise(realPath, found, flags, path));
    return { path, realPath, identity };
  } catch (error) {
    throw error instanceof StoreError ? error : toOpenError(path, error, mustExist);
  }
}

/** Maps an error of the file system. @param mustExist whether the file is only read */
export function toOpenError(path: string, error: unknown, mustExist: boolean): StoreError {
  const meaning = toMeaning(error);
  const isUnreadable = mustExist && meaning === notWritable;
  return createStoreError(isUnreadable ? notReadable : meaning, path, error);
}

/** Distinguishes a file from all others that exist at the same time. */
export function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Resolves symbolic links, also in a path that leads to no file yet. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (toCode(error) !== "ENOENT") throw error;
  }
  const directory = resolveLinks(dirname(path));
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink
    ? resolveLinks(resolve(directory, readlinkSync(path)))
    : join(directory, basename(path));
}

function recognise(
  realPath: string,
  found: BigIntStats | undefined,
  flags: number,
  path: string,
): BigIntStats {
  if (found !== undefined) {
    if (!found.isFile()) throw createStoreError(notFile, path);
    if (found.nlink > 1n) throw createStoreError(hardLinked, path);
    // Closing any descriptor of a file drops all locks of the process on it, including those of SQLite
    // (https://sqlite.org/howtocorrupt.html, 2.2). Therefore, no file that SQLite may have open is opened a second time.
    if (recognised.has(toMark(found))) return found;
  }
  const file = openSync(realPath, flags, 0o600);
  try {
    const stats = fstatSync(file, { bigint: true });
    if (stats.size === 0n) syncDirectory(dirname(realPath));
    else checkHeader(file, path);
    recognised.add(toMark(stats));
    return stats;
  } finally {
    closeSync(file);
  }
}

/** A new file may get the number of a deleted one, but not its time of birth. */
function toMark(stats: BigIntStats): string {
  return `${toIdentity(stats)}:${stats.birthtimeNs}`;
}

function checkHeader(file: number, path: string): void {
  const header = Buffer.alloc(headerLength);
  readSync(file, header, 0, headerLength, 0);
  if (!header.toString("latin1").startsWith(magic)) throw new NotDatabaseError(path);
  const id = header.readUInt32BE(applicationIdOffset);
  if (id !== applicationId) throw createStoreError(foreignDatabase, path);
}

const notFile = unusable("is a directory or a device: name a file");
/** Rejects the database of another program; its tables may show that when its header does not. */
export const foreignDatabase = unusable(
  "is the SQLite database of another program: choose another path",
);
const hardLinked = unusable(
  "has more than one hard link, and each name would become a store of its own: remove the other names, or copy the file",
);
const notWritable = unusable("cannot be written: choose another path, or change the permissions");
const notReadable = unusable("cannot be read: ask its owner, or change the permissions");
const missing = unusable('does not exist: check the path, or create it with "plantstore serve"');
const empty = unusable('is an empty file: choose another path, or fill it with "plantstore serve"');
const loneLog = unusable(
  "is missing, but its log with the last plants exists: put the file back, or remove the file that ends in -wal",
);
const noDirectory = unusable("has no directory: create it, or mount its disk");
const belowFile = unusable("is below something that is not a directory: choose another path");
const notOpened = unusable("cannot be opened: choose another path");

const meanings: ReadonlyMap<string, Meaning> = new Map([
  ["EACCES", notWritable],
  ["EPERM", notWritable],
  ["EROFS", notWritable],
  ["EEXIST", belowFile],
  ["ENOTDIR", belowFile],
  ["ENOSPC", failures.noRoom],
  ["EDQUOT", failures.noRoom],
  ["EIO", failures.inputOutput],
]);

function toMeaning(error: unknown): Meaning {
  if (hasTooManyFiles(error)) return failures.noFiles;
  return meanings.get(toCode(error)) ?? notOpened;
}
