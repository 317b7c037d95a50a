/** Stores whose feed is read in tests. */
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, vi } from "vitest";
import type { NewPlant } from "../../../src/core/plant.ts";
import type { FeedEntry, StoreEngine, StoreReader } from "../../../src/core/store.ts";
import { openPostgresEngine, openPostgresReader } from "../../../src/store/postgres/engine.ts";
import { createStoreUrl, generousLimits } from "../../helpers/postgres.ts";

/** Opens an engine for one test. */
export async function openEngine(url: string, limits = generousLimits): Promise<StoreEngine> {
  const engine = await openPostgresEngine(url, { limits });
  onTestFinished(() => engine.close());
  return engine;
}

/** Opens a reader for one test. */
export async function openReader(url: string): Promise<StoreReader> {
  const reader = await openPostgresReader(url);
  onTestFinished(() => reader.close());
  return reader;
}

/** Opens an empty store with one server for one test. */
export async function openStore(
  serverUrl: string,
): Promise<{ url: string; engine: StoreEngine; reader: StoreReader }> {
  const url = await createStoreUrl(serverUrl);
  const engine = await openEngine(url);
  return { url, engine, reader: await openReader(url) };
}

/** Opens a connection of another program for one test. */
export async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

export function toPlant(id: bigint, name = `plant ${id}`): NewPlant {
  return { id, name };
}

/** Creates or replaces plants in one commit. */
export async function create(engine: StoreEngine, ...plants: readonly NewPlant[]): Promise<void> {
  await engine.commit(plants.map((plant) => ({ plant, onConflict: "replace" })));
}

/** Reads all entries after a cursor, in pages. */
export async function readPages(
  reader: StoreReader,
  after?: string,
  limit = 100,
): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (;;) {
    const page = await reader.readFeed({ after: entries.at(-1)?.cursor ?? after, limit });
    expect(page.length).toBeLessThanOrEqual(limit);
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}

/** Reads a feed once it contains every commit: PostgreSQL's own transactions may delay commits for a moment. */
export interface SettledFeed {
  readonly settle: () => Promise<void>;
  readonly readAll: typeof readPages;
  readonly readIds: (...args: Parameters<typeof readPages>) => Promise<bigint[]>;
}

/** Returns functions that are available while tests run. */
export function useSettledFeed(server: { readonly url: string }): SettledFeed {
  let client: pg.Client | undefined;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: server.url });
    await client.connect();
  });
  afterAll(() => client?.end());

  async function settle(): Promise<void> {
    const findEnd = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid";
    const end = await client?.query<{ xid: string }>(findEnd);
    const isSettled = "SELECT 1 WHERE pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8";
    await vi.waitUntil(
      async () => (await client?.query(isSettled, [end?.rows[0]?.xid]))?.rowCount === 1,
      {
        timeout: 20_000,
        interval: 10,
      },
    );
  }

  const readAll: typeof readPages = async (...args) => {
    await settle();
    return readPages(...args);
  };
  return {
    settle,
    readAll,
    readIds: async (...args) => (await readAll(...args)).map(({ id }) => id),
  };
}
