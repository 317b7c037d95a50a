/** Databases of earlier versions are upgraded, and keep their plants and tokens. */
import { expect, it, onTestFinished } from "vitest";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import { createStoreUrl, runSql, usePostgres } from "../../helpers/postgres.ts";

const postgres = usePostgres();

/** The schema of version 1; must never change. */
const version1 = `
  CREATE TABLE plantstore_migrations (
    version int8 PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE plants (id int8 PRIMARY KEY, name text NOT NULL, tag text);
  CREATE TABLE plantstore_tokens (
    digest text PRIMARY KEY,
    prefix text NOT NULL,
    name text NOT NULL,
    issued_at int8 NOT NULL,
    expires_at int8,
    revoked_at int8,
    added int8 NOT NULL GENERATED ALWAYS AS IDENTITY
  );
  INSERT INTO plantstore_migrations (version) VALUES (1);
  INSERT INTO plants VALUES (1, 'fern', 'pot');
  INSERT INTO plantstore_tokens (digest, prefix, name, issued_at, expires_at)
    VALUES ('ab', 'pst_abcd', 'first', 1, 2);
`;

const token = {
  digest: "ab",
  prefix: "pst_abcd",
  name: "first",
  issuedAtMs: 1,
  expiresAtMs: 2,
  revokedAtMs: undefined,
  lastUsedDay: undefined,
};

it("upgrades a database of version 1 and keeps its plants and tokens", async () => {
  const url = await createStoreUrl(postgres.url);
  await runSql(url, version1);
  // Servers of this version may start at the same time.
  const engines = await Promise.all(Array.from({ length: 4 }, () => openPostgresEngine(url)));
  onTestFinished(async () => void (await Promise.all(engines.map((engine) => engine.close()))));
  for (const engine of engines) {
    expect(await engine.get(1n)).toStrictEqual({ id: 1n, name: "fern", tag: "pot" });
    expect(await engine.listTokens()).toStrictEqual([token]);
  }
  await engines[0]?.noteTokenUses(["ab"], 20_000);
  expect(await engines[1]?.listTokens()).toStrictEqual([{ ...token, lastUsedDay: 20_000 }]);
});
