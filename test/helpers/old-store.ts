/** A store in a file as an earlier plantstore left it. */
import { join } from "node:path";
import { loadSqlite } from "../../src/store/sqlite/provider.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/** As version 1 of the schema made it; never to be changed. */
const version1 = `
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
`;

/** Creates such a file, with a plant and a token, and gives its path. It is removed when the test has ended. */
export async function createStoreOfVersion1(): Promise<string> {
  const path = join(await createTemporaryDirectory(), "plants.db");
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  database.exec(version1);
  database.close();
  return path;
}
