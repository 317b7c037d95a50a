/** With synchronous replication, the feed returns only plants that a failover keeps, and continues after it. */
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import type { FeedEntry, StoreReader } from "../../../src/core/store.ts";
import { openPostgresReader } from "../../../src/store/postgres/engine.ts";
import { createStoreUrl, runSql, useOwnPostgres } from "../../helpers/postgres.ts";
import type { PostgresServer } from "../../helpers/postgres-server.ts";
import {
  create,
  openEngine,
  openFeed,
  openReader,
  openStore,
  toPlant,
  waitForRows,
} from "./stores.ts";

const primary = useOwnPostgres();
let standby: PostgresServer;

beforeAll(async () => {
  await runSql(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await primary.stop();
  standby = await primary.startStandby();
  await primary.start();
}, 60_000);
afterAll(() => standby.remove());

/** Reads until the feed has entries. */
async function readFeed(reader: StoreReader, after?: string): Promise<readonly FeedEntry[]> {
  return vi.waitUntil(
    async () => {
      const entries = await reader.readFeed({ after, limit: 10 });
      return entries.length > 0 && entries;
    },
    { timeout: 20_000 },
  );
}

/** Returns the URL of the same store on the standby. */
function toStandby(url: string): string {
  return url.replace(new URL(url).host, new URL(standby.url).host);
}

/** Waits until sessions with a name wait for the standby, and cancels their wait if asked. */
function waitForSyncWait(name: string, isCancelled = false): Promise<void> {
  return waitForRows(
    primary.url,
    `SELECT ${isCancelled ? "pg_cancel_backend(pid)" : "pid"} FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND application_name = '${name}'`,
  );
}

it("returns a plant that exists only on the primary once the standby confirms it", async () => {
  const { url, engine } = await openStore(primary.url);
  await create(engine, toPlant(1n));
  const reader = await openReader(`${url}&application_name=follower`);
  await readFeed(reader);

  await standby.kill();
  let isReturned = false;
  let entries: Promise<readonly FeedEntry[]> | undefined;
  try {
    const creating = runSql(
      `${url}&application_name=writer`,
      "INSERT INTO plants VALUES (2, 'fern')",
    );
    // A cancelled commit is visible without its confirmation.
    await waitForSyncWait("writer", true);
    await creating;
    entries = readFeed(reader).finally(() => (isReturned = true));
    await waitForSyncWait("follower");
    // A cancelled reader waits again.
    await waitForSyncWait("follower", true);
    await waitForSyncWait("follower");
    expect(isReturned).toBe(false);
  } finally {
    await standby.start();
  }
  await entries;
  const ids = async () => (await reader.readFeed({ limit: 10 })).map(({ id }) => id);
  await expect.poll(ids).toEqual([1n, 2n]);
});

it("is the same on a standby, which accepts cursors that it has not replayed", async () => {
  const { url, engine, reader } = await openFeed(primary.url);
  await create(engine, toPlant(1n));
  const replica = await vi.waitUntil(
    async () => openPostgresReader(toStandby(url)).catch(() => false as const),
    { timeout: 20_000 },
  );
  onTestFinished(() => replica.close());
  const first = await readFeed(replica);
  expect(await readFeed(reader)).toEqual(first);

  await runSql(standby.url, "SELECT pg_wal_replay_pause()");
  try {
    await create(engine, toPlant(2n));
    const [second] = await readFeed(reader, first[0]?.cursor);
    expect(await replica.readFeed({ after: second?.cursor, limit: 10 })).toEqual([]);
  } finally {
    await runSql(standby.url, "SELECT pg_wal_replay_resume()");
  }
  expect((await readFeed(replica, first[0]?.cursor)).map(({ id }) => id)).toEqual([2n]);
});

it("continues with the same cursors after a failover", async () => {
  // The primary is lost, and the schema with it.
  const url = await createStoreUrl(primary.url, () => undefined);
  const engine = await openEngine(url);
  await create(engine, toPlant(1n));
  const [{ cursor } = { cursor: "" }] = await readFeed(await openReader(url));
  await create(engine, toPlant(2n));
  await primary.kill();
  await runSql(standby.url, "SELECT pg_promote()");
  await runSql(standby.url, "ALTER SYSTEM SET synchronous_standby_names = ''");
  await runSql(standby.url, "SELECT pg_reload_conf()");

  const promoted = await openEngine(toStandby(url));
  await vi.waitFor(() => create(promoted, toPlant(3n)), { timeout: 20_000 });
  const reader = await openReader(toStandby(url));
  const ids = async () => (await reader.readFeed({ after: cursor, limit: 10 })).map(({ id }) => id);
  await expect.poll(ids).toEqual([2n, 3n]);
});
