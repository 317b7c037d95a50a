/** Servers that share one database may start together, and exactly one of their creates for one id wins. */
import type pg from "pg";
import { describe, expect, it } from "vitest";
import type { ConflictPolicy, ChangeResult, StoreEngine } from "../../../src/core/store.ts";
import { defaultLimits } from "../../../src/store/postgres/database.ts";
import { createStoreUrl, runSql, usePostgres, withOption } from "../../helpers/postgres.ts";
import { toEntries, toEntry } from "../entries.ts";
import { openClient, openEngine, openStore, waitForRows } from "./stores.ts";

const postgres = usePostgres();
const serverCount = 4;

function openEngines(url: string, count: number): Promise<StoreEngine[]> {
  return Promise.all(Array.from({ length: count }, () => openEngine(url)));
}

/**
 * Delays each write of plants until the returned transaction ends.
 *
 * @param trigger moment of the delay, such as AFTER INSERT
 */
async function delayWrites(url: string, trigger: string): Promise<pg.Client> {
  await runSql(
    url,
    `CREATE TABLE gate AS SELECT 1;
    CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM FROM gate FOR SHARE; RETURN NULL; END $$;
    CREATE TRIGGER pass ${trigger} ON plants EXECUTE FUNCTION pass()`,
  );
  const client = await openClient(url);
  await client.query("BEGIN; SELECT FROM gate FOR UPDATE");
  return client;
}

/** Resolves when servers wait for locks. */
function waitUntilBlocked(count = 1): Promise<void> {
  const blocked =
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'plantstore' AND wait_event_type = 'Lock'";
  return waitForRows(postgres.url, blocked, count);
}

describe("servers that start together on an empty database", () => {
  it("all start, and share the tables that one of them creates", async () => {
    const url = await createStoreUrl(postgres.url);
    const engines = await openEngines(url, 8);
    expect(await runSql(url, "SELECT version FROM plantstore_migrations")).toEqual([
      { version: "7" },
    ]);
    const fern = toEntry(1n, "fern");
    const results = await Promise.all(engines.map((engine) => engine.commit([fern])));
    expect(results.flat().toSorted()).toEqual(["created", ...Array(7).fill("unchanged")]);
  });
});

describe.each(["read committed", "repeatable read", "serializable"])(
  "servers that create the same ids at once, with transactions that are %s",
  (isolation) => {
    const ids = Array.from({ length: 40 }, (_, index) => BigInt(index));
    const setting = `default_transaction_isolation=${isolation.replace(" ", "\\ ")}`;

    const same = (): string => "fern";
    const different = (server: number): string => `plant of ${server}`;

    it.each<[string, ConflictPolicy, (server: number) => string, string?]>([
      ["created conflict conflict conflict", "reject", different],
      ["created unchanged unchanged unchanged", "reject", same],
      ["created replaced replaced replaced", "replace", different],
      ["replaced unchanged unchanged unchanged", "replace", same, "moss"],
    ])("find %s with %s, and one plant is stored completely", async (...row) => {
      const [expected, onConflict, toName, stored] = row;
      const url = withOption(await createStoreUrl(postgres.url), setting);
      const engines = await openEngines(url, serverCount);
      if (stored !== undefined) {
        const insert = "INSERT INTO plants SELECT id, $1 FROM unnest($2::int8[]) AS ids (id)";
        await runSql(url, insert, [stored, ids.map(String)]);
      }
      const results: ChangeResult[][] = ids.map(() => []);
      // Every server creates all ids, in its own order and in several batches.
      await Promise.all(
        engines.map(async (engine, server) => {
          const order = server % 2 === 0 ? ids : ids.toReversed();
          for (let start = 0; start < order.length; start += 10) {
            const part = order.slice(start, start + 10);
            const name = toName(server);
            const plants = part.map((id) => ({ id, name, tag: `tag of ${name}` }));
            const outcome = await engine.commit(toEntries(plants, onConflict));
            for (const [index, id] of part.entries()) results[Number(id)]?.push(outcome[index]!);
          }
        }),
      );
      for (const ofId of results) {
        expect(ofId.toSorted()).toEqual(expected.split(" ").toSorted());
      }
      const plants = await engines[0]!.list({ limit: 100 });
      expect(plants.map(({ id }) => id)).toEqual(ids);
      const names = engines.map((_, server) => toName(server));
      for (const { name, tag } of plants) {
        expect(names).toContain(name);
        expect(tag).toBe(`tag of ${name}`);
      }
    });

    it("find a plant unchanged that another one stores between its comparison and its write", async () => {
      const url = await createStoreUrl(postgres.url);
      const engines = await openEngines(withOption(url, setting), 2);
      await runSql(url, "INSERT INTO plants VALUES (1, 'fern'), (2, 'fern')");
      // After the comparison.
      const gate = await delayWrites(url, "BEFORE UPDATE");
      const moss = [toEntry(1n, "moss", "replace"), toEntry(2n, "moss", "replace")];
      const results = engines.map((engine) => engine.commit(moss));
      await waitUntilBlocked(2);
      await gate.query("COMMIT");
      expect((await Promise.all(results)).flat().toSorted()).toEqual([
        "replaced",
        "replaced",
        "unchanged",
        "unchanged",
      ]);
    });

    it.each([
      ["commits", "COMMIT", "conflict"],
      ["rolls back", "ROLLBACK", "created"],
    ])("wait until an earlier transaction %s", async (_, end, result) => {
      const url = await createStoreUrl(postgres.url);
      const engine = await openEngine(withOption(url, setting));
      const first = await openClient(url);
      await first.query("BEGIN; INSERT INTO plants VALUES (1, 'moss')");
      const second = engine.commit([toEntry(1n, "fern")]);
      await waitUntilBlocked();
      await first.query(end);
      expect(await second).toEqual([result]);
    });
  },
);

describe("a server that conflicts with another program", () => {
  it("retries after a deadlock", async () => {
    const { url, engine } = await openStore(postgres.url);
    const other = await openClient(url);
    await other.query(
      "SET deadlock_timeout = '1min'; BEGIN; INSERT INTO plants VALUES (2, 'moss')",
    );
    const results = engine.commit([toEntry(1n, "fern"), toEntry(2n, "fern")]);
    await waitUntilBlocked();
    await other.query("INSERT INTO plants VALUES (1, 'moss')");
    await other.query("COMMIT");
    expect(await results).toEqual(["conflict", "conflict"]);
  });

  it("does not wait forever for a lock, and then stores nothing", async () => {
    const limits = { ...defaultLimits, statementMs: 500 };
    const { url, engine } = await openStore(postgres.url, limits);
    const other = await openClient(url);
    await other.query("BEGIN; INSERT INTO plants VALUES (2, 'moss')");
    const results = engine.commit([toEntry(1n, "fern"), toEntry(2n, "fern")]);
    await expect(results).rejects.toMatchObject({ name: "StoreError", reason: "busy" });
    await other.query("COMMIT");
    expect(await engine.list({ limit: 10 })).toEqual([{ id: 2n, name: "moss" }]);
  });

  it("stores a plant when the conflicting one is deleted at the same time", async () => {
    const { url, engine } = await openStore(postgres.url);
    await engine.commit([toEntry(1n, "fern")]);
    // Between the conflict and the comparison.
    const gate = await delayWrites(url, "AFTER INSERT");
    const moss = toEntry(1n, "moss");
    const results = engine.commit([moss]);
    await waitUntilBlocked();
    await gate.query("DELETE FROM plants; COMMIT");
    expect(await results).toEqual(["created"]);
    expect(await engine.get(1n)).toStrictEqual(moss.plant);
  });

  it("reports a plant as created whose place was free when it was written", async () => {
    const { url, engine } = await openStore(postgres.url);
    await engine.commit([toEntry(1n, "fern"), toEntry(2n, "fern")]);
    await runSql(
      url,
      `CREATE TABLE gate AS SELECT 1;
      CREATE SEQUENCE writes;
      CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF current_setting('application_name') = 'plantstore' AND nextval('writes') > 1
        THEN PERFORM FROM gate FOR SHARE; END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER pass BEFORE INSERT ON plants EXECUTE FUNCTION pass()`,
    );
    const gate = await openClient(url);
    await gate.query("BEGIN; SELECT FROM gate FOR UPDATE");
    const holder = await openClient(url);
    await holder.query("BEGIN; SELECT FROM plants WHERE id = 1 FOR UPDATE");
    const results = engine.commit([toEntry(1n, "moss", "replace"), toEntry(2n, "moss", "replace")]);
    // Before the plant 2 is locked, it is deleted and stored again.
    await waitUntilBlocked();
    await runSql(url, "DELETE FROM plants WHERE id = 2");
    await runSql(url, "INSERT INTO plants VALUES (2, 'rose')");
    await holder.query("COMMIT");
    // Before it is written, it is deleted once more.
    const writing =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO plants %'";
    await waitForRows(postgres.url, writing, 1);
    await runSql(url, "DELETE FROM plants WHERE id = 2");
    await gate.query("COMMIT");
    expect(await results).toEqual(["replaced", "created"]);
  });
});
