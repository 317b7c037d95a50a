/** SQLite itself: Node's own where it has one, else the package with the same interface; and its errors. */
import { closeSync, existsSync, openSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { devNull } from "node:os";
import { hasTooManyFiles, StoreError } from "../../core/store.ts";
import {
  createFailureMap,
  createStoreError,
  failures,
  type FailureKind,
  unstarted,
} from "../store-failure.ts";

/** A value in a statement. Integers are always bigint: the package binds a number above int32 as a double. */
type SqliteValue = bigint | string | Uint8Array | null;

/** A prepared statement. It does not keep its database alive: hold that as long as this. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  iterate(...values: SqliteValue[]): Iterable<unknown>;
  setReadBigInts(enabled: boolean): void;
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteProvider {
  readonly DatabaseSync: new (
    path: string,
    options?: { readonly readOnly: boolean },
  ) => SqliteDatabase;
}

/**
 * Loads SQLite. Node warns that its own is experimental, so a thread that loads it disables that warning.
 *
 * @throws StoreError `failed` when neither of the two is there
 */
export async function loadSqlite(): Promise<SqliteProvider> {
  // Node 20: has no SQLite.
  const builtin = process.getBuiltinModule("node:sqlite") as SqliteProvider | undefined;
  if (builtin !== undefined) return builtin;
  assertSqliteInstalled();
  try {
    return await import("@photostructure/sqlite");
  } catch (cause) {
    throw new StoreError(
      "failed",
      `SQLite cannot be loaded: the package ${packageName} has no binary for this platform. Use Node.js 22 or later`,
      { cause },
    );
  }
}

/**
 * True if the main thread may use SQLite. Node 22: prints a warning, which other threads disable. Node 20: the package has
 * the file open until its thread ends.
 */
export const isForMainThread = Number.parseInt(process.versions.node, 10) >= 24;

const packageName = "@photostructure/sqlite";

/**
 * Checks that SQLite can be used, without loading it, so that no empty store is created without it.
 *
 * @throws StoreError `failed`
 */
export function assertSqliteInstalled(): void {
  if ("Deno" in globalThis) {
    throw new StoreError(
      "failed",
      "SQLite cannot be used under Deno: run plantstore with Node.js, or use memory: or PostgreSQL",
    );
  }
  if (isBuiltin("node:sqlite")) return;
  try {
    createRequire(`${import.meta.dirname}/`).resolve(packageName);
  } catch (cause) {
    throw new StoreError(
      "failed",
      `SQLite is missing, because Node.js ${process.versions.node} has none: install ${packageName}, or use Node.js 22 or later`,
      { cause, command: toInstallCommand() },
    );
  }
}

/** The command that installs the package where this code finds it. */
function toInstallCommand(): string {
  const [project = "", ...inside] = import.meta.dirname.split(/[/\\]node_modules[/\\]/);
  // The node_modules of a global installation belong to no project.
  const isGlobal = inside.length > 0 && !existsSync(`${project}/package.json`);
  return `npm install ${isGlobal ? "--global " : ""}${packageName}@1`;
}

const interrupted = unstarted(
  "was being created or restored when that was interrupted: start a server on it once",
  (path) => `sqlite:${path}`,
);

/**
 * Kinds by SQLite's result code, extended or primary (https://sqlite.org/rescode.html). SQLite reports FULL only for a
 * full disk; an exhausted quota, a limit on the size of files and a broken disk are write errors.
 */
const kindsByResult: ReadonlyMap<number, FailureKind> = new Map([
  [5, failures.locked], // BUSY
  [6, failures.locked], // LOCKED
  [8, failures.readOnly], // READONLY
  [10, failures.inputOutput], // IOERR
  [11, failures.damaged], // CORRUPT
  [13, failures.noRoom], // FULL
  [14, failures.notOpened], // CANTOPEN
  [26, failures.damaged], // NOTADB
  [776, interrupted], // READONLY_ROLLBACK: a journal has to be rolled back first
  [778, failures.notWritten], // IOERR_WRITE
  [4874, failures.noRoom], // IOERR_SHMSIZE: the disk is too full for the index of the write-ahead log
]);

/** Result codes by SQLite's message. Node omits the code when reading many rows fails. */
const codesByMessage: ReadonlyMap<string, number> = new Map([
  ["database is locked", 5],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
]);

const { toFailureKind, toStoreError: toKnownError } = createFailureMap(kindsByResult, (error) => {
  const code =
    "errcode" in error ? Number(error.errcode) : (codesByMessage.get(error.message) ?? 0);
  return [code, code & 0xff];
});

export { toFailureKind };

/** Maps an error to the store's; a StoreError stays the same. */
export function toStoreError(error: unknown, path: string): StoreError {
  return toFailureKind(error) === failures.notOpened && isShortOfFiles()
    ? createStoreError(failures.noFiles, path, error)
    : toKnownError(error, path);
}

/** More than SQLite opens at once for a database: the file, its log, its journal and their directory. */
const filesOfDatabase = 8;

/** Checks whether the process can open few more files. SQLite does not report why it cannot open one. */
export function isShortOfFiles(): boolean {
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

export function createDamageError(path: string, finding: string): StoreError {
  return createStoreError(failures.damaged, path, new Error(finding.replaceAll("\n", " ")));
}

/** Checks whether SQLite failed because another connection held a lock. */
export function isBusy(error: unknown): boolean {
  return toFailureKind(error) === failures.locked;
}

const { readOnly, notOpened, noRoom, notWritten, inputOutput } = failures;
const unwritable: readonly FailureKind[] = [readOnly, notOpened];
const writeFailures: readonly FailureKind[] = [...unwritable, noRoom, notWritten, inputOutput];

/** Checks whether SQLite failed because it could not create or change a file. */
export function isUnwritable(error: unknown): boolean {
  return unwritable.includes(toFailureKind(error));
}

/** Checks whether SQLite may have failed because it could not create, write or extend a file. */
export function isWriteFailure(error: unknown): boolean {
  return writeFailures.includes(toFailureKind(error));
}
