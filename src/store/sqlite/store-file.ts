/** The file of a store: prepares and identifies it, and checks that it stays in place. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "../../core/attempt.ts";
import { adviseMissing, assertDirectory, syncDirectory } from "../durable-files.ts";
import {
  createFailureMap,
  createStoreError,
  failures,
  type FailureKind,
  toCode,
  unusable,
} from "../store-failure.ts";

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

/** "PLNT": marks a SQLite file as a plant store (https://sqlite.org/fileformat.html, the application id). */
export const applicationId = 0x504c4e54;

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
      if (found === undefined) throw createStoreError(toMissing(path), path);
      if (found.isFile() && found.size === 0n) throw createStoreError(empty, path);
    } else {
      assertDirectory(realPath);
      // SQLite mistakes the log for that of another database, and drops it with the commits in it.
      const isLoneLog = hasLog && (found === undefined || found.size === 0n);
      if (isLoneLog) throw createStoreError(loneLog, path);
    }
    const flags = mustExist ? constants.O_RDONLY : constants.O_RDWR | constants.O_CREAT;
    const identity = toIdentity(recognise(realPath, found, flags, path));
    return { path, realPath, identity };
  } catch (error) {
    throw toStoreError(error, path);
  }
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
    if (isMountPoint(realPath)) throw createStoreError(toMounted(realPath), path);
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

/**
 * Checks whether a file itself is mounted, as `podman run --volume ./plants.db:/data/plants.db` does. Only Linux has this table
 * (proc_pid_mountinfo(5)); its fifth field is the mount point, with blanks and backslashes in octal.
 */
function isMountPoint(path: string): boolean {
  const table = attempt(() => readFileSync("/proc/self/mountinfo", "utf8")) ?? "";
  const field = path.replaceAll(/[ \t\n\\]/g, (character) => {
    return `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
  return table.split("\n").some((row) => row.split(" ")[4] === field);
}

/** A new file may get the number of a deleted one, but not its time of birth. */
function toMark(stats: BigIntStats): string {
  return `${toIdentity(stats)}:${stats.birthtimeNs}`;
}

function checkHeader(file: number, path: string): void {
  const header = Buffer.alloc(headerLength);
  readSync(file, header, 0, headerLength, 0);
  if (!header.toString("latin1").startsWith(magic)) throw createStoreError(notDatabase, path);
  const id = header.readUInt32BE(applicationIdOffset);
  if (id !== applicationId) throw createStoreError(foreignDatabase, path);
}

const notDatabase = unusable(
  "is not a SQLite database: name another file, or restore a backup if it was a plant store",
);
const notFile = unusable("is a directory or a device: name a file");
/** Rejects the database of another program; its tables may show that when its header does not. */
export const foreignDatabase = unusable(
  "is the SQLite database of another program: name another file",
);
const hardLinked = unusable(
  "has more than one hard link, and each name would become a store of its own: remove the other names, or copy the file",
);
const toMounted = (path: string) =>
  unusable(
    `is mounted as a file, so that its log beside it would be outside of the mount: mount its directory at ${dirname(path)} instead`,
  );
const empty = unusable("is an empty file: choose another path");
const loneLog = unusable(
  "is missing, but its log with the last plants exists: put the file back, or remove the file that ends in -wal",
);
const belowFile = unusable("is below something that is not a directory: choose another path");

function toMissing(path: string): FailureKind {
  return unusable(`does not exist: ${adviseMissing(path, "check the path")}`);
}

const kindsByCode: ReadonlyMap<string, FailureKind> = new Map([
  ["EEXIST", belowFile],
  ["ENOTDIR", belowFile],
  ["ENOSPC", failures.noRoom],
  ["EDQUOT", failures.notWritten],
  ["EIO", failures.inputOutput],
]);

const { toStoreError } = createFailureMap(
  kindsByCode,
  (error) => [toCode(error)],
  failures.notOpened,
);

/**
 * Creates the files of a store in use: the database, its log (`-wal`) and the index of the log (`-shm`). SQLite itself
 * continues in removed files, and everything that it stores there is lost with the process.
 */
export function createFilesInUse({ path, realPath, identity }: StoreFile) {
  let logs: readonly (string | undefined)[] | undefined;

  const findLogs = () => ["-wal", "-shm"].map((suffix) => findIdentity(realPath + suffix));

  return {
    /** Records the log and its index after a connection was opened; further calls change nothing. */
    recordLog(): void {
      logs ??= findLogs();
    },
    /** Forgets the log and its index. The last connection has removed them, and the next one creates others. */
    forgetLog(): void {
      logs = undefined;
    },
    /** Asserts that all files are in place. Takes 5 µs. @throws StoreError */
    assertInPlace(): void {
      if (readIdentity(path) !== identity) throw createStoreError(moved, path);
      if (logs === undefined) return;
      const isInPlace = findLogs().every((log, index) => log && log === logs?.[index]);
      if (!isInPlace) throw createStoreError(logMoved, path);
    },
    /**
     * Renames a log that remains with a database other than its own after the last connection was closed. SQLite would
     * mistake it for the log of that database, and damage the database.
     *
     * @throws StoreError when the log cannot be renamed
     */
    renameForeignLog(): void {
      const found = findIdentity(realPath);
      if (found === undefined || found === identity) return;
      // Any other log belongs to a process that has opened the other file.
      const log = findIdentity(`${realPath}-wal`);
      if (log === undefined || log !== logs?.[0]) return;
      try {
        renameSync(`${realPath}-wal`, `${realPath}-wal.replaced`);
      } catch (error) {
        throw createStoreError(foreignLog, path, error);
      }
    },
  };
}

/** @throws StoreError when the path leads nowhere, for example because of a loop of links */
function readIdentity(path: string): string {
  try {
    return toIdentity(statSync(path, { bigint: true }));
  } catch (error) {
    throw createStoreError(moved, path, toCode(error) === "ENOENT" ? undefined : error);
  }
}

function findIdentity(path: string): string | undefined {
  return attempt(() => toIdentity(statSync(path, { bigint: true })));
}

const foreignLog = unusable(
  "was replaced, and the log of the file before it is still there: remove the file that ends in -wal before the next start",
);
const logMoved: FailureKind = {
  reason: "full",
  problem:
    "lost its log while it was in use: the file that ends in -wal or -shm was removed or replaced. Stop every plantstore process on this store, then start again",
};
/** SQLite counts this, where it notices, as read-only (https://sqlite.org/rescode.html#readonly_dbmoved). */
const moved: FailureKind = {
  reason: "full",
  problem: "was removed or replaced while it was in use: put it back, or restart plantstore",
};
