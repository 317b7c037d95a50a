/** Stores in files as earlier versions of the schema left them. */
import { join } from "node:path";
import { loadSqlite } from "../../src/store/sqlite/provider.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/** The statements of each version; they never change. */
const versions = {
  1: `
    PRAGMA application_id = 1347178068;
    CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;
    CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
    CREATE TABLE tokens (
      digest TEXT NOT NULL PRIMARY KEY,
      prefix TEXT NOT NULL,
      name TEXT NOT NULL,
      issued_at INTEGER NOT NULL,
      expires_at INTEGER,
      revoked_at INTEGER
    ) STRICT;
    CREATE TABLE last_check (checked_at INTEGER NOT NULL) STRICT;
    INSERT INTO last_check (checked_at) VALUES (0);
    INSERT INTO migrations VALUES (1, 1790000000000);
    PRAGMA journal_mode = WAL;
    INSERT INTO plants VALUES (1, 'fern', 'pot');
    INSERT INTO tokens VALUES ('ab', 'pst_abcd', 'first', 1, 2, NULL);
  `,
  2: `
    ALTER TABLE tokens ADD COLUMN last_used_day INTEGER;
    INSERT INTO migrations VALUES (2, 1791000000000);
  `,
} as const;

/**
 * Creates a store with a plant and a token in a file.
 *
 * @param version of the schema; the release of commit 2b5691d has version 2
 * @returns the path; the file is removed when the test has ended
 */
export async function createOldStore(version: keyof typeof versions): Promise<string> {
  const path = join(await createTemporaryDirectory(), "plants.db");
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  for (const [number, sql] of Object.entries(versions)) {
    if (Number(number) <= version) database.exec(sql);
  }
  database.close();
  return path;
}
