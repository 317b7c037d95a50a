/** Each transaction sets its own settings, so that neither a pooler nor a changed configuration weakens a commit. */
import { randomBytes } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CreateEntry, StoreEngine } from "../../../src/core/store.ts";
import { openPostgresEngine, openPostgresReader } from "../../../src/store/postgres/engine.ts";
import { findPgBouncer, startPgBouncer } from "../../helpers/pgbouncer.ts";
import { createStoreUrl, runSql, useOwnPostgres, withOption } from "../../helpers/postgres.ts";

const postgres = useOwnPostgres();
const fern: CreateEntry = { plant: { id: 1n, name: "fern" }, onConflict: "reject" };

async function openEngine(url: string): Promise<StoreEngine> {
  const engine = await openPostgresEngine(url);
  onTestFinished(() => engine.close());
  return engine;
}

/** Changes a setting of the server until the test ends, and waits until every session has it. */
async function configure(name: string, value: string): Promise<void> {
  const before = await runSql(postgres.url, `SHOW ${name}`);
  await setAndReload(name, value);
  onTestFinished(() => setAndReload(name, String(before[0]?.[name])));
}

async function setAndReload(name: string, value: string): Promise<void> {
  await runSql(postgres.url, `ALTER SYSTEM SET ${name} = '${value}'`);
  await runSql(postgres.url, "SELECT pg_reload_conf()");
  await expect
    .poll(async () => (await runSql(postgres.url, `SHOW ${name}`))[0]?.[name])
    .toBe(value);
}

/** Makes the tag of each new plant the settings of its transaction. */
async function recordSettings(url: string): Promise<void> {
  await runSql(
    url,
    `CREATE FUNCTION record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.tag = concat_ws(' ', current_setting('synchronous_commit'), current_setting('statement_timeout'),
        current_setting('idle_in_transaction_session_timeout'));
      RETURN NEW; END $$;
    CREATE TRIGGER record BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION record()`,
  );
}

describe("the settings of a commit", () => {
  it("do not depend on a configuration that changes while the engine runs", async () => {
    const url = await createStoreUrl(postgres.url);
    const engine = await openEngine(url);
    await recordSettings(url);
    await configure("synchronous_commit", "off");
    await engine.commit([fern]);
    expect((await engine.get(1n))?.tag).toBe("on 3s 5s");
  });

  it("make it fail once the configuration turns fsync off", async () => {
    const url = await createStoreUrl(postgres.url);
    const engine = await openEngine(url);
    await configure("fsync", "off");
    const failure = { reason: "busy", message: expect.stringContaining("fsync=off") as string };
    await expect(engine.commit([fern])).rejects.toMatchObject(failure);
    await expect(engine.checkWritable()).rejects.toMatchObject(failure);
    expect(await runSql(url, "SELECT * FROM plants")).toEqual([]);
  });

  it("do not remain in a session of the pooler", async () => {
    const engine = await openEngine(await createStoreUrl(postgres.url));
    await engine.commit([fern]);
    const sessions = await runSql(
      postgres.url,
      "SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = 'plantstore' AND state <> 'idle'",
    );
    expect(sessions).toEqual([{ open: 0 }]);
  });
});

it("a short statement_timeout of a role stops neither a server nor a follower", async () => {
  const url = await createStoreUrl(postgres.url);
  // PostgreSQL finds these functions before its own ones. They are slower than the timeout.
  for (const [name, type] of [
    ["pg_backend_pid", "int"],
    ["pg_is_in_recovery", "bool"],
  ]) {
    await runSql(
      url,
      `CREATE FUNCTION ${name}() RETURNS ${type} LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(0.3); RETURN pg_catalog.${name}(); END $$`,
    );
  }
  const schema = await runSql(url, "SELECT current_schema() AS name");
  const path = `search_path=${String(schema[0]?.["name"])},pg_catalog`;
  const slow = withOption(withOption(url, path), "statement_timeout=100");
  const engine = await openEngine(slow);
  expect(await engine.commit([fern])).toEqual(["created"]);
  await engine.checkWritable();
  const reader = await openPostgresReader(slow);
  onTestFinished(() => reader.close());
  await expect.poll(() => reader.readFeed({ limit: 9 })).toMatchObject([{ plant: fern.plant }]);
});

describe.runIf(findPgBouncer() !== undefined)(
  "an engine behind PgBouncer in transaction mode",
  () => {
    it("commits with its own settings although other clients of the pooler change them", async () => {
      const database = `test_${randomBytes(4).toString("hex")}`;
      await runSql(postgres.url, `CREATE DATABASE ${database}`);
      onTestFinished(async () => {
        await runSql(postgres.url, `DROP DATABASE ${database} WITH (FORCE)`);
      });
      const direct = Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href;
      const pooled = await startPgBouncer(direct);
      const engines = await Promise.all([openEngine(pooled), openEngine(pooled)]);
      await recordSettings(direct);
      const stop = new AbortController();
      const otherClient = (async () => {
        while (!stop.signal.aborted) {
          await runSql(pooled, "SET synchronous_commit = off; SET statement_timeout = '30s'");
        }
      })();
      for (let id = 0n; id < 100n; id++) {
        const engine = engines[Number(id) % 2];
        expect(await engine?.commit([{ ...fern, plant: { id, name: "fern" } }])).toEqual([
          "created",
        ]);
      }
      stop.abort();
      await otherClient;
      const tags = await runSql(
        direct,
        "SELECT tag, count(*)::int AS plants FROM plants GROUP BY tag",
      );
      expect(tags).toEqual([{ tag: "on 3s 5s", plants: 100 }]);
      await expect(engines[0].checkWritable()).resolves.toBeUndefined();
    });

    it("stays in its schema when another one precedes it in search_path", async () => {
      const database = `test_${randomBytes(4).toString("hex")}`;
      await runSql(postgres.url, `CREATE DATABASE ${database}`);
      onTestFinished(async () => {
        await runSql(postgres.url, `DROP DATABASE ${database} WITH (FORCE)`);
      });
      const direct = Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href;
      const engine = await openEngine(await startPgBouncer(direct));
      expect(await engine.commit([fern])).toEqual(["created"]);
      // The default path begins with the schema of the user.
      await runSql(direct, "CREATE SCHEMA AUTHORIZATION CURRENT_USER");
      expect(await engine.commit([fern])).toEqual(["unchanged"]);
      expect(await engine.count({})).toBe(1);
    });

    it("rejects options in the URL, which PgBouncer does not accept by default", async () => {
      const pooled = await startPgBouncer(await createStoreUrl(postgres.url));
      await expect(openPostgresEngine(pooled)).rejects.toMatchObject({
        reason: "unusable",
        message: expect.stringContaining("ALTER ROLE … SET search_path") as string,
      });
    });
  },
);
