/** Each transaction sets its own settings, so that neither a pooler nor a changed configuration weakens a commit. */
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultLimits } from "../../../src/store/postgres/database.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import { findProgram } from "../../helpers/installed-programs.ts";
import { startPgBouncer } from "../../helpers/pgbouncer.ts";
import { createStoreUrl, runSql, usePostgres, withOption } from "../../helpers/postgres.ts";
import { toEntry } from "../entries.ts";
import { expectRejection } from "../expect-rejection.ts";
import { configure, createDatabase, openEngine, openReader, openStore } from "./stores.ts";

const postgres = usePostgres();
const fern = toEntry(1n, "fern");

/** Turns a setting of the server off until the test ends. */
async function turnOff(setting: string): Promise<void> {
  await configure(postgres.url, setting, "off");
  onTestFinished(() => configure(postgres.url, setting, "on"));
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
    const { url, engine } = await openStore(postgres.url, defaultLimits);
    await recordSettings(url);
    await turnOff("synchronous_commit");
    await engine.commit([fern]);
    expect((await engine.get(1n))?.tag).toBe("on 3s 5s");
  });

  it("make it fail once the configuration turns fsync off", async () => {
    const { url, engine } = await openStore(postgres.url, defaultLimits);
    await turnOff("fsync");
    await expectRejection(engine.commit([fern]), "busy", "fsync=off");
    await expectRejection(engine.checkWritable(), "busy", "fsync=off");
    expect(await runSql(url, "SELECT * FROM plants")).toEqual([]);
  });
});

it.each(["error", "debug5"])(
  "client_min_messages=%s of a role hides no warning and adds none",
  async (level) => {
    const url = withOption(
      await createStoreUrl(postgres.url),
      `client_min_messages=${level} -c array_nulls=off`,
    );
    const engine = await openEngine(url, defaultLimits);
    expect(await engine.commit([fern])).toEqual(["created"]);
    expect(await engine.get(1n)).toEqual(fern.plant);
    const stored = await runSql(url, "SELECT tag IS NULL AS absent FROM plants");
    expect(stored).toEqual([{ absent: true }]);
  },
);

it("a short statement_timeout of a role stops neither a server nor a reader", async () => {
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
  const engine = await openEngine(slow, defaultLimits);
  expect(await engine.commit([fern])).toEqual(["created"]);
  await engine.checkWritable();
  const reader = await openReader(slow);
  expect(await reader.list({ limit: 9 })).toEqual([fern.plant]);
});

describe.runIf(findProgram("pgbouncer"))("an engine behind PgBouncer in transaction mode", () => {
  it("commits with its own settings although other clients of the pooler change them", async () => {
    const direct = await createDatabase(postgres.url);
    const pooled = await startPgBouncer(direct);
    const engines = await Promise.all([
      openEngine(pooled, defaultLimits),
      openEngine(pooled, defaultLimits),
    ]);
    await recordSettings(direct);
    const stop = new AbortController();
    const otherClient = (async () => {
      while (!stop.signal.aborted) {
        await runSql(pooled, "SET synchronous_commit = off; SET statement_timeout = '30s'");
      }
    })();
    for (let id = 0n; id < 100n; id++) {
      const engine = engines[Number(id) % 2];
      expect(await engine?.commit([toEntry(id, "fern")])).toEqual(["created"]);
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
    const direct = await createDatabase(postgres.url);
    const engine = await openEngine(await startPgBouncer(direct), defaultLimits);
    expect(await engine.commit([fern])).toEqual(["created"]);
    // The default path begins with the schema of the user.
    await runSql(direct, "CREATE SCHEMA AUTHORIZATION CURRENT_USER");
    expect(await engine.commit([fern])).toEqual(["unchanged"]);
    expect(await engine.count({})).toBe(1);
  });

  it("rejects options in the URL, which PgBouncer does not accept by default", async () => {
    const pooled = await startPgBouncer(await createStoreUrl(postgres.url));
    await expectRejection(openPostgresEngine(pooled), "unusable", "ALTER ROLE … SET search_path");
  });
});
