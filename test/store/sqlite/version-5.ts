/** Stores of version 5 of the schema, as the plantstore of that version made them. */
import { change } from "../../helpers/stored-plants.ts";
import { createPath } from "./stores.ts";

const schema = `
  PRAGMA application_id = 0x504c4e54;
  CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;
  CREATE TABLE plants (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    tag TEXT,
    seq INTEGER NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE deleted_plants (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL UNIQUE) STRICT;
  CREATE VIEW feed_end AS SELECT max(
    ifnull((SELECT max(seq) FROM plants), 0),
    ifnull((SELECT max(seq) FROM deleted_plants), 0)
  ) AS seq;
  CREATE TRIGGER plant_deleted AFTER DELETE ON plants BEGIN
    INSERT OR REPLACE INTO deleted_plants (id, seq)
    SELECT old.id, max(seq, old.seq) + 1 FROM feed_end;
  END;
  CREATE TABLE feed (store_id TEXT NOT NULL) STRICT;
  INSERT INTO feed (store_id) VALUES (lower(hex(randomblob(8))));
  CREATE TABLE tokens (
    digest TEXT NOT NULL PRIMARY KEY,
    prefix TEXT NOT NULL,
    name TEXT NOT NULL,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_day INTEGER
  ) STRICT;
  CREATE TABLE last_check (checked_at INTEGER NOT NULL) STRICT;
  INSERT INTO last_check (checked_at) VALUES (0);
  CREATE TABLE token_version (version INTEGER NOT NULL) STRICT;
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
  INSERT INTO migrations VALUES (4, 1), (5, 2);
`;

/** The plants of {@link createVersion5}, without those that were deleted. */
export const plants = [
  { id: -(2n ** 63n), name: "\0\u{1f335}\uFEFF", tag: "" },
  { id: 1n, name: "fern", tag: "pot" },
  { id: 2n ** 63n - 1n, name: "a\0b" },
];

/** The token of {@link createVersion5}. */
export const token = {
  digest: "ab".repeat(32),
  prefix: "pst_abcd",
  name: "ci",
  issuedAtMs: 1,
  expiresAtMs: 3,
  revokedAtMs: 2,
  lastUsedDay: 20_000,
};

/** Creates a store with plants and a token, as a server leaves it. @returns its path */
export async function createVersion5(): Promise<string> {
  const path = await createPath();
  await change(
    path,
    `${schema}
    PRAGMA journal_mode = WAL;
    INSERT INTO plants VALUES
      (${2n ** 63n - 1n}, 'a' || char(0) || 'b', NULL, 1),
      (7, 'deleted', NULL, 2),
      (1, 'fern', 'pot', 4),
      (-9223372036854775808, char(0, 0x1f335, 0xfeff), '', 3);
    DELETE FROM plants WHERE id = 7;
    INSERT INTO tokens VALUES ('${token.digest}', '${token.prefix}', '${token.name}', 1, 3, 2, 20000);`,
  );
  return path;
}
