/** Files of earlier versions become files of this one, and keep what they have. */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { loadSqlite } from "../../../src/store/sqlite/provider.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

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

it("a file of version 1 keeps its plants and tokens, and learns when a token was used", async () => {
  const path = join(await createTemporaryDirectory(), "plants.db");
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  database.exec(version1);
  database.close();

  const engine = await openSqliteEngine(path);
  onTestFinished(() => engine.close());
  expect(await engine.get(1n)).toStrictEqual({ id: 1n, name: "fern", tag: "pot" });
  const token = {
    digest: "ab",
    prefix: "pst_abcd",
    name: "first",
    issuedAtMs: 1,
    expiresAtMs: 2,
    revokedAtMs: undefined,
    lastUsedDay: undefined,
  };
  expect(await engine.listTokens()).toStrictEqual([token]);
  await engine.noteTokenUses(["ab"], 20_000);
  expect(await engine.listTokens()).toStrictEqual([{ ...token, lastUsedDay: 20_000 }]);
});
