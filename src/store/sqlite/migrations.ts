/** The schema, and what brings a file to its version. */
import { createStoreError, unusable } from "../store-failure.ts";
import { findMissingSteps, type Schema, type SchemaStep } from "../schema.ts";
import { applicationId, foreignDatabase } from "./database-file.ts";
import type { SqliteDatabase } from "./provider.ts";
import { inTransaction } from "./transaction.ts";

/** The schema of this version. */
export const sqliteSchema: Schema = [
  {
    version: 4,
    sql: `
      PRAGMA application_id = ${applicationId};
      CREATE TABLE migrations (
        version INTEGER PRIMARY KEY,
        applied_at INTEGER NOT NULL -- all times: milliseconds since the epoch
      ) STRICT;
      CREATE TABLE plants (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        tag TEXT, -- NULL: no tag, which differs from an empty tag
        seq INTEGER NOT NULL UNIQUE -- order of commits in the feed
      ) STRICT;
      CREATE TABLE deleted_plants (
        id INTEGER PRIMARY KEY,
        seq INTEGER NOT NULL UNIQUE
      ) STRICT;
      CREATE VIEW feed_end AS SELECT max(
        ifnull((SELECT max(seq) FROM plants), 0),
        ifnull((SELECT max(seq) FROM deleted_plants), 0)
      ) AS seq;
      CREATE TRIGGER plant_deleted AFTER DELETE ON plants BEGIN
        INSERT OR REPLACE INTO deleted_plants (id, seq)
        SELECT old.id, max(seq, old.seq) + 1 FROM feed_end;
      END;
      CREATE TABLE feed (
        store_id TEXT NOT NULL -- names the store in cursors
      ) STRICT;
      INSERT INTO feed (store_id) VALUES (lower(hex(randomblob(8))));
      CREATE TABLE tokens (
        digest TEXT NOT NULL PRIMARY KEY, -- SHA-256, lower-case hexadecimal
        prefix TEXT NOT NULL,
        name TEXT NOT NULL,
        issued_at INTEGER NOT NULL,
        expires_at INTEGER,
        revoked_at INTEGER,
        last_used_day INTEGER -- days since the epoch, in UTC
      ) STRICT;
      CREATE TABLE last_check ( -- written to check that the store is writable
        checked_at INTEGER NOT NULL
      ) STRICT;
      INSERT INTO last_check (checked_at) VALUES (0);
    `,
  },
  {
    version: 5,
    // Triggers, because servers of the version before and other programs change tokens too.
    sql: `
      CREATE TABLE token_version ( -- differs after each change of the tokens, except of their last use
        version INTEGER NOT NULL
      ) STRICT;
      INSERT INTO token_version (version) VALUES (random());
      CREATE TRIGGER token_added AFTER INSERT ON tokens BEGIN
        UPDATE token_version SET version = random();
      END;
      CREATE TRIGGER token_changed AFTER UPDATE OF digest, expires_at, revoked_at ON tokens BEGIN
        UPDATE token_version SET version = random();
      END;
      CREATE TRIGGER token_removed AFTER DELETE ON tokens BEGIN
        UPDATE token_version SET version = random();
      END;
    `,
  },
];

/**
 * Applies the steps that a file lacks in one transaction, and records each. If several processes start on one file, one of
 * them applies them.
 *
 * @param path for messages
 * @throws StoreError `unusable` when the file cannot be upgraded or is from another program; it is not changed then
 */
export function migrate(database: SqliteDatabase, path: string, schema = sqliteSchema): void {
  if (findMissing(database, path, schema).length === 0) return;
  inTransaction(database, () => {
    const missing = findMissing(database, path, schema);
    if (missing[0] === schema[0] && hasTables(database)) {
      throw createStoreError(foreignDatabase, path);
    }
    for (const { version, sql } of missing) {
      database.exec(sql);
      database.exec(`
        INSERT INTO migrations (version, applied_at)
        VALUES (${version}, CAST(unixepoch('subsec') * 1000 AS INTEGER))
      `);
    }
  });
}

/**
 * Asserts that a file lacks no step, and changes nothing.
 *
 * @param path for messages
 * @throws StoreError `unusable`
 */
export function assertCurrent(database: SqliteDatabase, path: string, schema = sqliteSchema): void {
  const version = assertUpgradable(database, path, schema);
  if (findMissingSteps(schema, version, path).length > 0) throw createStoreError(older, path);
}

const older = unusable(
  'is from an older plantstore: start "plantstore serve" on it once to upgrade it',
);

/**
 * Asserts that a file has the version of this program, or one that {@link migrate} can upgrade, and changes nothing.
 *
 * @param path for messages
 * @returns the version
 * @throws StoreError `unusable`
 */
export function assertUpgradable(
  database: SqliteDatabase,
  path: string,
  schema = sqliteSchema,
): number {
  const version = readVersion(database);
  if (version === 0) throw createStoreError(foreignDatabase, path);
  findMissingSteps(schema, version, path);
  return version;
}

/**
 * Finds a table, an index, a view or a trigger that the schema of a version has and a database lacks.
 *
 * @param blank an empty database to compare with, which gets the schema
 * @returns for example `trigger plant_deleted`
 */
export function findMissingPart(
  database: SqliteDatabase,
  blank: SqliteDatabase,
  version: number,
  schema = sqliteSchema,
): string | undefined {
  for (const step of schema) if (step.version <= version) blank.exec(step.sql);
  const present = listParts(database);
  return listParts(blank).find((part) => !present.includes(part));
}

function listParts(database: SqliteDatabase): readonly string[] {
  const rows = database.prepare("SELECT type || ' ' || name AS part FROM sqlite_schema").all();
  return (rows as { part: string }[]).map(({ part }) => part);
}

function findMissing(
  database: SqliteDatabase,
  path: string,
  schema: Schema,
): readonly SchemaStep[] {
  return findMissingSteps(schema, readVersion(database), path);
}

/** @returns 0 for a file without the tables */
function readVersion(database: SqliteDatabase): number {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  if (table === undefined) return 0;
  const row = database.prepare("SELECT max(version) AS version FROM migrations").get();
  return Number((row as { version: number | null }).version);
}

function hasTables(database: SqliteDatabase): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema").get() !== undefined;
}
