/** The schema, as the steps that lead to it. A released step never changes; new steps are appended. */
import { applicationId, foreignDatabase } from "./database-file.ts";
import { createStoreError, unusable } from "../failure.ts";
import type { SqliteDatabase } from "./provider.ts";
import { inTransaction } from "./transaction.ts";

/**
 * Step n, counted from 1, leads from version n - 1 of the schema to version n. Servers of older versions may have the store
 * open meanwhile and must keep working: a new column has a default or is filled by a trigger.
 */
const steps: readonly string[] = [
  `
  CREATE TABLE plants (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    tag TEXT -- NULL: no tag, which differs from an empty tag
  ) STRICT;
  CREATE TABLE tokens (
    digest TEXT NOT NULL PRIMARY KEY, -- SHA-256, lower-case hexadecimal
    prefix TEXT NOT NULL,
    name TEXT NOT NULL,
    issued_at INTEGER NOT NULL, -- all times: milliseconds since the epoch
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT;
  CREATE TABLE last_check ( -- written to check that the store is writable
    checked_at INTEGER NOT NULL
  ) STRICT;
  INSERT INTO last_check (checked_at) VALUES (0);
  `,
  // In days since the epoch, in UTC.
  "ALTER TABLE tokens ADD COLUMN last_used_day INTEGER",
  // The feed. This version sets seq itself. The triggers set it for older servers and other programs.
  `
  ALTER TABLE plants ADD COLUMN seq INTEGER; -- order of commits; NULL: stored before this step
  CREATE UNIQUE INDEX plants_by_seq ON plants (seq) WHERE seq IS NOT NULL;
  CREATE TABLE deleted_plants (
    id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE feed (
    store_id TEXT NOT NULL, -- names the store in cursors
    old_max_id INTEGER -- largest id without seq; NULL: every plant has one
  ) STRICT;
  INSERT INTO feed (store_id, old_max_id) SELECT lower(hex(randomblob(8))), max(id) FROM plants;
  CREATE VIEW feed_end AS SELECT max(
    ifnull((SELECT max(seq) FROM plants WHERE seq IS NOT NULL), 0),
    ifnull((SELECT max(seq) FROM deleted_plants), 0)
  ) AS seq;
  CREATE TRIGGER plant_inserted AFTER INSERT ON plants WHEN new.seq IS NULL BEGIN
    UPDATE plants SET seq = (SELECT seq + 1 FROM feed_end) WHERE id = new.id;
    DELETE FROM deleted_plants WHERE id = new.id;
  END;
  CREATE TRIGGER plant_updated AFTER UPDATE OF name, tag ON plants WHEN new.seq IS old.seq BEGIN
    UPDATE plants SET seq = (SELECT seq + 1 FROM feed_end) WHERE id = new.id;
  END;
  CREATE TRIGGER plant_deleted AFTER DELETE ON plants BEGIN
    INSERT OR REPLACE INTO deleted_plants (id, seq)
    SELECT old.id, max(seq, ifnull(old.seq, 0)) + 1 FROM feed_end;
  END;
  `,
];

/**
 * Upgrades the schema to the version of this program in one transaction, and records each step. If several processes start
 * on one file, one of them upgrades it.
 *
 * @throws StoreError `unusable` when the file is from a newer version or another program; it is not changed then
 */
export function migrate(database: SqliteDatabase, path: string): void {
  if (readVersion(database, path) === steps.length) return;
  inTransaction(database, () => {
    const version = readVersion(database, path);
    if (version === 0) {
      if (hasTables(database)) throw createStoreError(foreignDatabase, path);
      createMigrationsTable(database);
    }
    for (const [index, step] of steps.entries()) {
      if (index < version) continue;
      database.exec(step);
      recordMigration(database, index + 1);
    }
  });
}

/**
 * Checks that the schema has the version of this program, and changes nothing.
 *
 * @throws StoreError `unusable`
 */
export function checkVersion(database: SqliteDatabase, path: string): void {
  if (readVersion(database, path) === steps.length) return;
  const problem = 'is from an older plantstore: start "plantstore serve" on it once to upgrade it';
  throw createStoreError(unusable(problem), path);
}

/**
 * Checks that the schema has the version of this program or an older one, and changes nothing.
 *
 * @returns the version
 * @throws StoreError `unusable`
 */
export function checkNotNewer(database: SqliteDatabase, path: string): number {
  const version = readVersion(database, path);
  if (version === 0) throw createStoreError(foreignDatabase, path);
  return version;
}

/**
 * Finds a table, an index, a view or a trigger that the schema of a version has and a database lacks.
 *
 * @param blank an empty database to compare with, which gets the schema
 * @returns for example `trigger plant_inserted`
 */
export function findMissingPart(
  database: SqliteDatabase,
  blank: SqliteDatabase,
  version: number,
): string | undefined {
  createMigrationsTable(blank);
  for (const step of steps.slice(0, version)) blank.exec(step);
  const present = listParts(database);
  return listParts(blank).find((part) => !present.includes(part));
}

function listParts(database: SqliteDatabase): readonly string[] {
  const rows = database.prepare("SELECT type || ' ' || name AS part FROM sqlite_schema").all();
  return (rows as { part: string }[]).map(({ part }) => part);
}

function createMigrationsTable(database: SqliteDatabase): void {
  database.exec(`
    PRAGMA application_id = ${applicationId};
    CREATE TABLE migrations (
      version INTEGER PRIMARY KEY,
      applied_at INTEGER NOT NULL -- milliseconds since the epoch
    ) STRICT;
  `);
}

function recordMigration(database: SqliteDatabase, version: number): void {
  database.exec(`
    INSERT INTO migrations (version, applied_at)
    VALUES (${version}, CAST(unixepoch('subsec') * 1000 AS INTEGER))
  `);
}

function hasTables(database: SqliteDatabase): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema").get() !== undefined;
}

/** @throws StoreError `unusable` when the version is newer than this program */
function readVersion(database: SqliteDatabase, path: string): number {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  if (table === undefined) return 0;
  const row = database.prepare("SELECT max(version) AS version FROM migrations").get();
  const version = Number((row as { version: number | null }).version);
  if (version <= steps.length) return version;
  const problem = `is from a newer plantstore (its schema has version ${version}, this plantstore has ${steps.length}): install that version`;
  throw createStoreError(unusable(problem), path);
}
