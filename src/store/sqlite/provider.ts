/**
 * SQLite itself: Node's own where it has one, else the package with the same interface.
 */
import { existsSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { StoreError } from "../../core/store.ts";

/** A value in a statement. Integers are always bigint: the package binds a number above int32 as a double. */
type SqliteValue = bigint | string | Uint8Array | null;

/** A prepared statement. It does not keep its database alive: hold that as long as this. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  /** Reads row by row. */
  iterate(...values: SqliteValue[]): Iterable<unknown>;
  setReadBigInts(enabled: boolean): void;
}

/** A connection; the part of it that plantstore uses. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

/** The part of a provider that plantstore uses. */
export interface SqliteProvider {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
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
      `SQLite cannot be loaded: the package ${packageName} has no binary for this platform. Use Node.js 22.15 or later`,
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
 * Checks that SQLite is installed, without loading it, so that no empty store is created without it.
 *
 * @throws StoreError `failed`
 */
export function assertSqliteInstalled(): void {
  if (isBuiltin("node:sqlite")) return;
  try {
    createRequire(`${import.meta.dirname}/`).resolve(packageName);
  } catch (cause) {
    throw new StoreError(
      "failed",
      `SQLite is missing: Node.js ${process.versions.node} has none. Install it with "${toInstallCommand()}", or use Node.js 22.15 or later`,
      { cause },
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
