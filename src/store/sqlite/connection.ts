/** The operations of a store on a connection to a database. Runs on a thread, or where a reader runs. */
import type { NewPlant } from "../../core/plant.ts";
import type {
  ConflictPolicy,
  ChangeResult,
  EndedToken,
  PlantFilter,
  PlantQuery,
  TokenRecord,
  TokenState,
} from "../../core/store.ts";
import {
  findTokenVersion,
  tokenIntegers,
  type TokenRow,
  tokenTexts,
  toSqlInteger,
  toStoredPlant,
  toTokenRecord,
  toTokenValues,
} from "../sql-tables.ts";
import { takePage } from "../pages.ts";
import { findTampering, inTransaction, openDatabase, openDatabaseToRead } from "./database.ts";
import { loadSqlite, type SqliteDatabase, type SqliteStatement } from "./driver.ts";
import type { StoreFile } from "./store-file.ts";
import {
  fromSqlText,
  type PackedPlants,
  type PackedEntries,
  packPlants,
  preparePlantStatements,
  selectText,
  type StoredRow,
  type StoredText,
  toFilterValues,
  toSqlText,
  toStoredPlants,
  toValues,
  unpackMembers,
} from "./rows.ts";

/** File to connect to, and what for: the first message to a thread. */
export interface ConnectionTarget extends StoreFile {
  /**
   * - `read`: for a store reader
   * - `first`: the first connection of an engine, which creates the tables
   * - `further`: any other connection of the engine. A newer server may have changed the schema since
   * - `whole`, `replaced`: for a backup or a restore (see backup-worker.ts)
   */
  readonly access: "read" | "first" | "further" | "whole" | "replaced";
}

export type StoreConnection = ReturnType<typeof createConnection>;

/** Time that commits wait for a reader after a delete; clients wait ten times as long. */
const readerTimeoutMs = 1000;

/** Connects to a database. @throws StoreError or an error of SQLite, as its methods do */
export async function openConnection(target: ConnectionTarget): Promise<StoreConnection> {
  const { realPath, access } = target;
  const provider = await loadSqlite();
  const database =
    access === "read"
      ? openDatabaseToRead(provider, realPath)
      : openDatabase(provider, realPath, access === "first");
  return createConnection(database);
}

/**
 * Creates a connection on an open database, which it owns from then on. Its methods do not wait for locks (see
 * `retryWhileBusy`).
 */
export function createConnection(database: SqliteDatabase) {
  // The closures below keep the database alive, which its statements don't.
  const statements = prepareStatements(database);
  database.exec("PRAGMA busy_timeout = 0");
  return {
    commit(entries: PackedEntries): readonly ChangeResult[] {
      // From then on, deleted text is overwritten in the database.
      if (entries.actions.includes("delete")) database.exec("PRAGMA secure_delete = ON");
      return inTransaction(database, () => changeAll(statements, entries));
    },
    findTampering: () => findTampering(database),
    get(id: bigint): NewPlant | undefined {
      const row = statements.findPlant.get(id) as StoredRow | undefined;
      return row && toStoredPlant(row, fromSqlText);
    },
    list({ limit, ...filter }: PlantQuery): PackedPlants {
      const rows = statements.listPlants.iterate(...toFilterValues(filter));
      return packPlants(takePage(toStoredPlants(rows as Iterable<StoredRow>), limit));
    },
    count(filter: PlantFilter): number {
      const row = statements.countPlants.get(...toFilterValues(filter));
      return Number((row as { count: bigint }).count);
    },
    /** Empties the log, unless a reader takes too long. */
    emptyLog(): void {
      // Only SQLite itself can prevent new commits while it waits.
      database.exec(`PRAGMA busy_timeout = ${readerTimeoutMs}`);
      try {
        database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } finally {
        database.exec("PRAGMA busy_timeout = 0");
      }
    },
    checkWritable: (): void =>
      inTransaction(database, () => {
        // Fails if the plants have other columns.
        statements.findSamePlant.get(...toValues({ id: 0n, name: "" }));
        statements.recordCheck.run(BigInt(Date.now()));
      }),
    addToken: (token: TokenRecord): void =>
      inTransaction(database, () => {
        statements.insertToken.run(...toTokenValues(token, toSqlText));
      }),
    listTokens: (): readonly TokenRecord[] => listTokens(statements),
    readTokens(knownVersion: string | undefined): TokenState {
      // Before the tokens, so that a change after it is found by the next read.
      const { version } = statements.findTokenVersion.get() as { readonly version: string };
      return version === knownVersion ? { version } : { version, tokens: listTokens(statements) };
    },
    endToken({ digest, expiresAtMs, revokedAtMs }: EndedToken): void {
      const [expiry, revocation] = [toSqlInteger(expiresAtMs), toSqlInteger(revokedAtMs)];
      inTransaction(database, () => {
        statements.endToken.run(expiry, expiry, revocation, revocation, toSqlText(digest));
      });
    },
    recordTokenUse: (digests: readonly string[], day: number): void =>
      inTransaction(database, () => {
        for (const digest of digests) {
          statements.recordTokenUse.run(BigInt(day), toSqlText(digest), BigInt(day));
        }
      }),
    /** Copies commits from the log into the database, except those that others read or write at the moment. */
    copyLog: (): void => database.exec("PRAGMA wal_checkpoint(PASSIVE)"),
    close: (): void => database.close(),
  };
}

/** Carries out changes in their order. The caller has begun a write transaction. */
function changeAll(statements: Statements, entries: PackedEntries): readonly ChangeResult[] {
  function create(plant: NewPlant, onConflict: ConflictPolicy): ChangeResult {
    const values = toValues(plant);
    if (hasChanged(statements.insertPlant.run(...values))) return "created";
    if (statements.findSamePlant.get(...values) !== undefined) return "unchanged";
    if (onConflict === "reject") return "conflict";
    statements.replacePlant.run(...values);
    return "replaced";
  }

  return Array.from(entries.actions, (action, index) => {
    const plant = unpackMembers(entries, index);
    if (action !== "delete") return create(plant, action);
    return hasChanged(statements.deletePlant.run(plant.id)) ? "deleted" : "absent";
  });
}

function hasChanged({ changes }: ReturnType<SqliteStatement["run"]>): boolean {
  return Number(changes) === 1;
}

function listTokens(statements: Statements): readonly TokenRecord[] {
  const rows = statements.listTokens.all() as TokenRow<StoredText>[];
  return rows.map((row) => toTokenRecord(row, fromSqlText));
}

type Statements = ReturnType<typeof prepareStatements>;

/**
 * Prepares the statements on a database. The caller must hold the database as long as the statements: once the garbage
 * collector has freed the database, its statements use freed memory.
 *
 * Text is compared by its bytes: BINARY is the default collation.
 */
function prepareStatements(database: SqliteDatabase) {
  function prepare(sql: string): SqliteStatement {
    const statement = database.prepare(sql);
    // On inserts too. Node 26: stores an id above 2^53, and then throws when it cannot return it as a number.
    statement.setReadBigInts(true);
    return statement;
  }

  return {
    ...preparePlantStatements(prepare),
    deletePlant: prepare("DELETE FROM plants WHERE id = ?"),
    recordCheck: prepare("UPDATE last_check SET checked_at = ?"),
    insertToken: prepare(`
      INSERT INTO tokens (${[...tokenTexts, ...tokenIntegers].join()})
      VALUES (${[...tokenTexts.map(() => "CAST(? AS TEXT)"), ...tokenIntegers.map(() => "?")].join()})
      ON CONFLICT (digest) DO NOTHING`),
    listTokens: prepare(`
      SELECT ${[...tokenTexts.map(selectText), ...tokenIntegers].join()}
      FROM tokens ORDER BY issued_at, rowid`),
    findTokenVersion: prepare(findTokenVersion("tokens")),
    endToken: prepare(`
      UPDATE tokens SET expires_at = min(ifnull(expires_at, ?), ifnull(?, expires_at)),
        revoked_at = min(ifnull(revoked_at, ?), ifnull(?, revoked_at))
      WHERE digest = CAST(? AS TEXT)`),
    recordTokenUse: prepare(`
      UPDATE tokens SET last_used_day = ? WHERE digest = CAST(? AS TEXT)
      AND (last_used_day IS NULL OR last_used_day < ?)`),
  };
}
