/**
 * SQLite itself: Node's own where it has one without a flag (from 22.13 on), else the package with the same interface.
 */
import { StoreError } from "../../core/store.ts";

/** What goes into a statement. Integers are always bigint: the package binds a number above int32 as a double. */
type SqliteValue = bigint | string | Uint8Array | null;

/** A prepared statement. It does not keep its database alive: hold that as long as this. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
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
 * Loads SQLite.
 *
 * @throws StoreError `unusable` when neither of the two is there
 */
export async function loadSqlite(): Promise<SqliteProvider> {
  const builtin = loadBuiltin();
  if (builtin !== undefined) return builtin;
  try {
    return await import("@photostructure/sqlite");
  } catch (cause) {
    throw new StoreError(
      "unusable",
      "SQLite is missing: use Node 22.13 or newer, or install plantstore again without --omit=optional",
      { cause },
    );
  }
}

/**
 * Node's own SQLite. Node says that it is experimental when it is first loaded; that is for us to know, not for the
 * person at the terminal. The load is synchronous, so that nobody else's warning can get into the gap.
 */
function loadBuiltin(): SqliteProvider | undefined {
  // oxlint-disable-next-line typescript/unbound-method -- it is put back below as it was
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (rest[0] === "ExperimentalWarning" && String(warning).includes("SQLite")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule("node:sqlite") as SqliteProvider | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
