/** The feed of a PostgreSQL store has every commit, in an order that later commits never change. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { NewPlant } from "../../../src/core/plant.ts";
import type { FeedEntry, StoreEngine, StoreReader } from "../../../src/core/store.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import { openPostgresReader } from "../../../src/store/postgres/reader.ts";
import { findPgBouncer, startPgBouncer } from "../../helpers/pgbouncer.ts";
import { createStoreUrl, runSql, usePostgres, withOption } from "../../helpers/postgres.ts";
import { startPostgres } from "../../helpers/postgres-server.ts";

const postgres = usePostgres();

async function openEngine(url: string): Promise<StoreEngine> {
  const engine = await openPostgresEngine(url);
  onTestFinished(() => engine.close());
  return engine;
}

async function openReader(url: string): Promise<StoreReader> {
  const reader = await openPostgresReader(url);
  onTestFinished(() => reader.close());
  return reader;
}

/** Opens a store with one server. */
async function openStore(): Promise<{ url: string; engine: StoreEngine; reader: StoreReader }> {
  const url = await createStoreUrl(postgres.url);
  const engine = await openEngine(url);
  return { url, engine, reader: await openReader(url) };
}

/** Opens a connection of another program. */
async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function create(engine: StoreEngine, ...plants: readonly NewPlant[]): Promise<void> {
  await engine.commit(plants.map((plant) => ({ plant, onConflict: "replace" })));
}

function toPlant(id: bigint, name = `plant ${id}`): NewPlant {
  return { id, name };
}

/** Waits until everything that was committed is in the feed: transactions of PostgreSQL itself may delay it for a moment. */
async function settle(url: string): Promise<void> {
  const [row] = await runSql(url, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid");
  await vi.waitUntil(
    async () => {
      const isSettled = "SELECT 1 WHERE pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8";
      return (await runSql(url, isSettled, [row?.["xid"]])).length > 0;
    },
    { timeout: 20_000 },
  );
}

/** Reads all entries after a cursor, in pages, once everything that was committed is in the feed. */
async function readAll(reader: StoreReader, after?: string, limit?: number): Promise<FeedEntry[]> {
  await settle(postgres.url);
  return readPages(reader, after, limit);
}

async function readPages(reader: StoreReader, after?: string, limit = 100): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (;;) {
    const page = await reader.readFeed({ after: entries.at(-1)?.cursor ?? after, limit });
    expect(page.length).toBeLessThanOrEqual(limit);
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}

async function readIds(reader: StoreReader, after?: string, limit?: number): Promise<bigint[]> {
  return (await readAll(reader, after, limit)).map(({ id }) => id);
}

describe("the feed of a postgres store", () => {
  it("contains plants in the order of their commits, whichever server made them", async () => {
    const { url, engine, reader } = await openStore();
    const engines = [engine, await openEngine(url)];
    const ids = [5n, -3n, 4n, -(2n ** 63n), 2n ** 63n - 1n, 0n];
    expect(await reader.readFeed({ limit: 9 })).toEqual([]);
    for (const [index, id] of ids.entries()) {
      await create(engines[index % 2] ?? engine, toPlant(id, "fern\0"));
    }
    const entries = await readAll(reader);
    expect(entries.map(({ plant }) => plant)).toStrictEqual(ids.map((id) => toPlant(id, "fern\0")));
    for (const limit of [1, 2, 5]) expect(await readAll(reader, undefined, limit)).toEqual(entries);
    for (const [index, { cursor }] of entries.entries()) {
      expect(await readAll(reader, cursor)).toStrictEqual(entries.slice(index + 1));
    }
  });

  it("moves a replaced plant to the end, and no unchanged one", async () => {
    const { engine, reader } = await openStore();
    await create(engine, toPlant(1n), toPlant(2n), { ...toPlant(3n), tag: "pot" });
    const [first] = await readAll(reader);
    await create(engine, toPlant(1n, "moss"), toPlant(2n));
    await engine.commit([{ plant: toPlant(2n, "moss"), onConflict: "reject" }]);
    expect((await readAll(reader)).map(({ plant }) => plant)).toStrictEqual([
      toPlant(2n),
      { ...toPlant(3n), tag: "pot" },
      toPlant(1n, "moss"),
    ]);
    expect(await readIds(reader, first?.cursor)).toEqual([2n, 3n, 1n]);
  });

  it("has an entry without a plant for a deleted id, until it is created again", async () => {
    const { engine, reader } = await openStore();
    await create(engine, toPlant(1n), toPlant(2n), toPlant(3n));
    expect(await engine.delete?.([3n, 9n, 1n, 3n])).toEqual([3n, 1n]);
    expect(await engine.delete?.([])).toEqual([]);
    expect(await engine.get(1n)).toBeUndefined();
    const entries = await readAll(reader);
    const cursor = expect.any(String) as string;
    expect(entries).toStrictEqual([
      { cursor, id: 2n, plant: toPlant(2n) },
      { cursor, id: 1n },
      { cursor, id: 3n },
    ]);

    await create(engine, toPlant(1n, "moss"));
    expect(await readIds(reader)).toEqual([2n, 3n, 1n]);
    expect(await readAll(reader, entries.at(-1)?.cursor)).toStrictEqual([
      { cursor, id: 1n, plant: toPlant(1n, "moss") },
    ]);
    expect(await engine.delete?.([1n])).toEqual([1n]);
    expect((await readAll(reader)).at(-1)).toStrictEqual({ cursor, id: 1n });
  });

  it("has the changes of other programs too", async () => {
    const { url, engine, reader } = await openStore();
    await create(engine, toPlant(1n), toPlant(2n), toPlant(3n));
    await runSql(url, "DELETE FROM plants WHERE id = 1");
    // Earlier versions replace plants in this way.
    await runSql(
      url,
      `INSERT INTO plants (id, name) VALUES (2, 'moss')
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, tag = excluded.tag`,
    );
    await runSql(url, "INSERT INTO plants (id, name, xid) VALUES (4, 'restored', '5')");
    const schema = new URL(url).searchParams.get("options")?.split("=")[1];
    await runSql(postgres.url, `DELETE FROM ${schema}.plants WHERE id = 3`);
    expect((await readAll(reader)).map(({ id, plant }) => [id, plant?.name])).toEqual([
      [1n, undefined],
      [2n, "moss"],
      [4n, "restored"],
      [3n, undefined],
    ]);
  });

  it("may be read by a user who may only read, and in sessions that are read-only", async () => {
    const { url, engine } = await openStore();
    await create(engine, toPlant(1n));
    const user = `user_${randomBytes(4).toString("hex")}`;
    await runSql(
      url,
      `DO $$ BEGIN
        CREATE ROLE ${user} LOGIN PASSWORD 'secret';
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${user}', current_schema());
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO ${user}', current_schema());
      END $$`,
    );
    onTestFinished(async () => {
      await runSql(url, `DROP OWNED BY ${user}; DROP ROLE ${user}`);
    });
    const userUrl = Object.assign(new URL(url), { username: user, password: "secret" }).href;
    const reader = await openReader(withOption(userUrl, "default_transaction_read_only=on"));
    expect(await readIds(reader)).toEqual([1n]);
  });
});

describe("an open transaction", () => {
  it.each([
    ["commits", "COMMIT", [1n, 2n]],
    ["rolls back", "ROLLBACK", [2n]],
  ])("delays later plants until it %s", async (_, end, ids) => {
    const { url, engine, reader } = await openStore();
    await create(engine, toPlant(0n));
    const [{ cursor } = { cursor: "" }] = await readAll(reader);
    const slow = await openClient(url);
    await slow.query("BEGIN; INSERT INTO plants VALUES (1, 'moss')");
    await create(engine, toPlant(2n));
    expect(await readPages(reader, cursor)).toEqual([]);
    await slow.query(end);
    expect(await readIds(reader, cursor)).toEqual(ids);
  });

  it("delays a plant and a deletion that it waited for, and keeps their order", async () => {
    const { url, engine, reader } = await openStore();
    await create(engine, toPlant(1n), toPlant(2n));
    const entries = await readAll(reader);
    const slow = await openClient(url);
    await slow.query("BEGIN; INSERT INTO plants VALUES (3, 'moss')");
    await create(engine, toPlant(1n, "from the server"));
    await engine.delete?.([2n]);
    await slow.query("UPDATE plants SET name = 'from the transaction' WHERE id = 1");
    await slow.query("INSERT INTO plants VALUES (2, 'again')");
    expect(await readPages(reader, entries.at(-1)?.cursor)).toEqual([]);
    await slow.query("COMMIT");
    const later = async () =>
      (await readAll(reader, entries.at(-1)?.cursor)).map(({ plant }) => plant);
    await expect
      .poll(later)
      .toEqual([toPlant(1n, "from the transaction"), toPlant(2n, "again"), toPlant(3n, "moss")]);
  });

  it("delays later plants in other databases of the cluster too", async () => {
    const { engine, reader } = await openStore();
    const database = `test_${randomBytes(4).toString("hex")}`;
    await runSql(postgres.url, `CREATE DATABASE ${database}`);
    const other = await openClient(
      Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href,
    );
    await other.query("BEGIN; SELECT pg_current_xact_id()");
    await create(engine, toPlant(1n));
    expect(await readPages(reader)).toEqual([]);
    await other.query("COMMIT");
    expect(await readIds(reader)).toEqual([1n]);
    await other.end();
    await runSql(postgres.url, `DROP DATABASE ${database}`);
  });
});

/** Follows the feed until a signal, and then to its end. */
async function follow(reader: StoreReader, until: AbortSignal): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  while (!until.aborted) {
    entries.push(...(await reader.readFeed({ after: entries.at(-1)?.cursor, limit: 7 })));
  }
  return [...entries, ...(await readAll(reader, entries.at(-1)?.cursor))];
}

/** Lets servers create, replace and delete while transactions of another program stay open, and follows the feed. */
async function followWriters(url: string, readerUrl: string): Promise<void> {
  const engines = await Promise.all([openEngine(url), openEngine(url), openEngine(url)]);
  const slow = await openClient(url);
  const reader = await openReader(readerUrl);
  const stop = new AbortController();
  const following = follow(reader, stop.signal);
  const acknowledged: { id: bigint; sent: number; ended: number }[] = [];
  let clock = 0;

  await Promise.all([
    ...engines.map(async (engine, server) => {
      for (let round = 0; round < 40; round++) {
        const own = BigInt(1000 + round * engines.length + server);
        const shared = [BigInt((round * 7 + server) % 10), BigInt((round * 3 + server) % 10)];
        const sent = clock++;
        await create(
          engine,
          toPlant(own),
          ...shared.map((id) => toPlant(id, `${server} ${round}`)),
        );
        acknowledged.push({ id: own, sent, ended: clock++ });
        if (round % 4 === 0) await engine.delete?.(shared);
      }
    }),
    (async () => {
      for (let id = 2000; id < 2020; id++) {
        await slow.query(`BEGIN; INSERT INTO plants VALUES (${id}, 'slow')`);
        await slow.query("SELECT pg_sleep(0.05)");
        await slow.query(id % 3 === 0 ? "ROLLBACK" : "COMMIT");
      }
    })(),
  ]);
  stop.abort();
  const entries = await following;

  const followed = new Map(entries.map(({ id, plant }) => [id, plant]));
  const plants = [...followed.values()].filter((plant) => plant !== undefined);
  const stored = await engines[0].list({ limit: 10_000 });
  expect(plants.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toStrictEqual(stored);
  const places = new Map(entries.map(({ id }, place) => [id, place]));
  for (const { id, sent } of acknowledged) {
    for (const earlier of acknowledged.filter(({ ended }) => ended < sent)) {
      expect(places.get(earlier.id)).toBeLessThan(places.get(id) ?? 0);
    }
  }
}

describe("a reader that follows the feed", () => {
  it("misses nothing while several servers and long transactions write", async () => {
    const url = await createStoreUrl(postgres.url);
    await openEngine(url);
    await followWriters(url, url);
  });

  it.runIf(findPgBouncer() !== undefined)(
    "misses nothing behind PgBouncer in transaction mode",
    async () => {
      const database = `test_${randomBytes(4).toString("hex")}`;
      await runSql(postgres.url, `CREATE DATABASE ${database}`);
      onTestFinished(async () => {
        await runSql(postgres.url, `DROP DATABASE ${database} WITH (FORCE)`);
      });
      const url = Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href;
      await openEngine(url);
      await followWriters(url, await startPgBouncer(url));
    },
  );
});

describe("a cursor", () => {
  const unusable = (problem: string) => ({
    name: "StoreError",
    reason: "unusable",
    message: expect.stringContaining(problem) as string,
  });

  it.each([
    "",
    "7",
    "x-1.1",
    "-1",
    ".1",
    ".",
    "1.1.1",
    "1e3.1",
    "99999999999999999999.1",
    "1.9223372036854775808",
  ])("that is malformed is rejected: %j", async (end) => {
    const { engine, reader } = await openStore();
    await create(engine, toPlant(1n));
    const [{ cursor } = { cursor: "" }] = await readAll(reader);
    const [storeId] = cursor.split("-");
    await expect(reader.readFeed({ after: end, limit: 1 })).rejects.toMatchObject(
      unusable("is malformed"),
    );
    await expect(reader.readFeed({ after: `${storeId}-${end}`, limit: 1 })).rejects.toMatchObject(
      unusable("is malformed"),
    );
  });

  it("of another store is rejected, on the same server too", async () => {
    const one = await openStore();
    const other = await openStore();
    await create(one.engine, toPlant(1n));
    await create(other.engine, toPlant(1n));
    const [{ cursor } = { cursor: "" }] = await readAll(one.reader);
    await expect(other.reader.readFeed({ after: cursor, limit: 1 })).rejects.toMatchObject(
      unusable("of another store"),
    );
    expect(await readAll(one.reader, cursor)).toEqual([]);
  });

  it("that is ahead of the store is rejected", async () => {
    const { engine, reader } = await openStore();
    await create(engine, toPlant(1n));
    const [{ cursor } = { cursor: "" }] = await readAll(reader);
    const ahead = cursor.replace(/-.*/, "-999999999.1");
    await expect(reader.readFeed({ after: ahead, limit: 1 })).rejects.toMatchObject(
      unusable("ahead of the store"),
    );
  });
});

describe("a store that was restored on another server", () => {
  it("comes first in a new feed, even if its transactions had greater ids", async () => {
    const source = await openStore();
    const other = await startPostgres();
    try {
      // The other server is new, so that its transactions have small ids.
      await runSql(
        source.url,
        "DO $$ BEGIN FOR n IN 1..1000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$",
      );
      await create(source.engine, toPlant(9n));
      await create(source.engine, toPlant(1n));
      await create(source.engine, toPlant(2n));
      await source.engine.delete?.([2n]);
      const cursor = (await readAll(source.reader)).at(-1)?.cursor;

      await (await openPostgresEngine(other.url)).close();
      // As pg_restore does, which creates triggers last.
      await runSql(other.url, "ALTER TABLE plants DISABLE TRIGGER USER");
      for (const table of ["plants", "plantstore_deletions"]) {
        for (const row of await runSql(source.url, `SELECT * FROM ${table}`)) {
          const values = Object.values(row);
          const places = values.map((_, index) => `$${index + 1}`);
          await runSql(other.url, `INSERT INTO ${table} VALUES (${places.join()})`, values);
        }
      }
      await runSql(other.url, "ALTER TABLE plants ENABLE TRIGGER USER");
      await expect(openPostgresReader(other.url)).rejects.toMatchObject({
        reason: "unusable",
        message: expect.stringContaining("restored from another server") as string,
      });

      const engine = await openPostgresEngine(other.url);
      const reader = await openPostgresReader(other.url);
      await create(engine, toPlant(0n));
      await settle(other.url);
      expect((await readPages(reader, undefined, 1)).map(({ id }) => id)).toEqual([1n, 2n, 9n, 0n]);
      await expect(reader.readFeed({ after: cursor, limit: 1 })).rejects.toMatchObject({
        reason: "unusable",
        message: expect.stringContaining("of another store") as string,
      });
      await Promise.all([engine.close(), reader.close()]);
    } finally {
      await other.remove();
    }
  });
});
