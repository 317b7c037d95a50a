/** Databases of earlier versions are upgraded, and keep their plants and tokens. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import type { StoreEngine } from "../../../src/core/store.ts";
import { defaultLimits, type Limits } from "../../../src/store/postgres/settings.ts";
import { openPostgresEngine, openPostgresReader } from "../../../src/store/postgres/engine.ts";
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

async function openEngine(url: string, limits?: Limits): Promise<StoreEngine> {
  const engine = await openPostgresEngine(url, { limits });
  onTestFinished(() => engine.close());
  return engine;
}

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

it("begins the feed with the plants of earlier versions, in the order of their ids", async () => {
  const url = await createStoreUrl(postgres.url);
  await runSql(url, `${version1} INSERT INTO plants VALUES (3, 'moss'), (-2, 'pine'), (2, 'ivy')`);
  const engine = await openEngine(url);
  await engine.commit([{ plant: { id: 0n, name: "rose" }, onConflict: "reject" }]);
  // Servers of earlier versions may still run.
  await runSql(url, "INSERT INTO plants (id, name, tag) VALUES (-9, 'oak', NULL)");
  await runSql(
    url,
    "INSERT INTO plants VALUES (2, 'elm') ON CONFLICT (id) DO UPDATE SET name = 'elm'",
  );
  const reader = await openPostgresReader(url);
  onTestFinished(() => reader.close());
  const ids = async () => (await reader.readFeed({ limit: 9 })).map(({ id }) => id);
  // Transactions of PostgreSQL itself may delay the last ones.
  await expect.poll(ids).toEqual([-2n, 1n, 3n, 0n, -9n, 2n]);
});

it("may take longer to upgrade than a statement may later, as a large index does", async () => {
  const database = `test_${randomBytes(4).toString("hex")}`;
  await runSql(postgres.url, `CREATE DATABASE ${database}`);
  onTestFinished(
    async () => void (await runSql(postgres.url, `DROP DATABASE ${database} WITH (FORCE)`)),
  );
  const url = Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href;
  await runSql(
    url,
    `${version1}
    CREATE FUNCTION wait() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2); END $$;
    CREATE EVENT TRIGGER wait ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION wait()`,
  );
  const limits = { ...defaultLimits, statementMs: 1000 };
  const engines = await Promise.all([openEngine(url, limits), openEngine(url, limits)]);
  for (const engine of engines) expect(await engine.get(1n)).toMatchObject({ name: "fern" });
});

it("is not upgraded while another program uses its tables, and creates do not wait for that program", async () => {
  const url = await createStoreUrl(postgres.url);
  await runSql(url, version1);
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("BEGIN; SELECT FROM plants");
  await expect(openEngine(url, { ...defaultLimits, statementMs: 300 })).rejects.toMatchObject({
    reason: "busy",
    message: expect.stringContaining("which session holds a lock") as string,
  });
  await runSql(url, "INSERT INTO plants VALUES (2, 'moss')");
  await other.query("COMMIT");
  expect(await (await openEngine(url)).list({ limit: 9 })).toHaveLength(2);
});
