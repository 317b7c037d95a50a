/** The feed never places a later commit before an entry that was read, although several programs write at the same time. */
import { describe, expect, it } from "vitest";
import type { FeedEntry, StoreReader } from "../../../src/core/store.ts";
import { listAll } from "../../helpers/all-plants.ts";
import { findPgBouncer, startPgBouncer } from "../../helpers/pgbouncer.ts";
import { usePostgres } from "../../helpers/postgres.ts";
import { readPages } from "../feed-contract.ts";
import {
  create,
  createDatabase,
  openClient,
  openEngine,
  openFeed,
  openReader,
  openStore,
  toPlant,
  useSettledFeed,
} from "./stores.ts";

const postgres = usePostgres();
const { readAll, readIds } = useSettledFeed(postgres);

describe("an open transaction", () => {
  it.each([
    ["commits", "COMMIT", [1n, 2n]],
    ["rolls back", "ROLLBACK", [2n]],
  ])("delays later plants until it %s", async (_, end, ids) => {
    const { url, engine, reader } = await openFeed(postgres.url);
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
    const { url, engine, reader } = await openFeed(postgres.url);
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
    const { engine, reader } = await openFeed(postgres.url);
    const other = await openClient(await createDatabase(postgres.url));
    await other.query("BEGIN; SELECT pg_current_xact_id()");
    await create(engine, toPlant(1n));
    expect(await readPages(reader)).toEqual([]);
    await other.query("COMMIT");
    expect(await readIds(reader)).toEqual([1n]);
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
  const stored = await listAll(engines[0]);
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
    const { url } = await openStore(postgres.url);
    await expect(followWriters(url, url)).resolves.toBeUndefined();
  });

  it.runIf(findPgBouncer() !== undefined)(
    "misses nothing behind PgBouncer in transaction mode",
    async () => {
      const url = await createDatabase(postgres.url);
      await openEngine(url);
      await expect(followWriters(url, await startPgBouncer(url))).resolves.toBeUndefined();
    },
  );
});
