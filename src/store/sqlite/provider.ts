/**
 * SQLite itself: Node's own where it has one, else the package with the same interface.
 */
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
 * @throws StoreError `unusable` when neither of the two is there
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
      "unusable",
      `SQLite cannot be loaded: the optional package ${packageName} has no binary for this platform. Use Node.js 22.15 or later`,
      { cause },
    );
  }
}

const packageName = "@photostructure/sqlite";

/**
 * Checks that SQLite is installed, without loading it, so that no empty store is created without it.
 *
 * @throws StoreError `unusable`
 */
export function assertSqliteInstalled(): void {
  if (isBuiltin("node:sqlite")) return;
  try {
    createRequire(`${import.meta.dirname}/`).resolve(packageName);
  } catch (cause) {
    throw new StoreError(
      "unusable",
      `SQLite is missing: Node.js ${process.versions.node} has none, and the optional package ${packageName} is not installed. Use Node.js 22.15 or later, or install plantstore again with access to the npm registry and without --omit=optional`,
      { cause },
    );
  }
}
