/** With synchronous replication, no result is returned before the standby confirms it. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { defaultLimits, type Limits } from "../../../src/store/postgres/database.ts";
import {
  createStoreUrl,
  runSql,
  usePostgres,
  useSynchronousStandby,
  withOption,
} from "../../helpers/postgres.ts";
import { toEntry } from "../entries.ts";
import { createUserUrl, openEngine, openReader, openStore, waitForRows } from "./stores.ts";

const primary = usePostgres();
const standby = useSynchronousStandby(primary);

const fern = toEntry(1n, "fern");
const moss = toEntry(1n, "moss");
const pine = toEntry(2n, "pine");
/** Shorter than the time for which a client waits. */
const clientLimitMs = 9000;

/** Shorter than the default limits. */
const shortLimits: Limits = {
  ...defaultLimits,
  statementMs: 1500,
  responseMs: 2000,
  callMs: 4000,
  shortCallMs: 1500,
};

function waitUntilReplicated(): Promise<void> {
  const standbys = "SELECT 1 FROM pg_stat_replication WHERE sync_state <> 'async'";
  return waitForRows(primary.url, standbys);
}

/** Stops the standby until the test ends. */
async function stopStandby(): Promise<void> {
  await standby.kill();
  onTestFinished(async () => {
    await standby.start();
    await waitUntilReplicated();
  });
}

/** Cancels the wait for the standby, after which PostgreSQL commits with a warning. */
async function cancelWaits(): Promise<void> {
  await runSql(
    primary.url,
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
  );
}

async function isStored(url: string, id: number): Promise<boolean> {
  return (await runSql(url, "SELECT 1 FROM plants WHERE id = $1", [id])).length > 0;
}

describe("an engine whose standby is stopped", () => {
  it("rejects creates and checkWritable as busy before clients time out", async () => {
    const { engine } = await openStore(primary.url, defaultLimits);
    await stopStandby();
    const results = await Promise.all(
      [
        { call: engine.commit([fern]), limitMs: clientLimitMs },
        { call: engine.checkWritable(), limitMs: 2000 },
      ].map(async ({ call, limitMs }) =>
        Promise.race([
          call.catch((error: unknown) => error),
          new Promise((resolve) => setTimeout(resolve, limitMs, "late")),
        ]),
      ),
    );
    for (const result of results) expect(result).toMatchObject({ reason: "busy" });
  });

  it("neither shows a plant that exists only on the primary, nor reports it as unchanged or in conflict", async () => {
    const { url, engine } = await openStore(primary.url, shortLimits);
    await stopStandby();
    await expect(engine.commit([fern])).rejects.toMatchObject({ reason: "busy" });
    await vi.waitUntil(
      async () => {
        await cancelWaits();
        return isStored(url, 1);
      },
      { timeout: 30_000 },
    );
    await expect(engine.commit([fern])).rejects.toMatchObject({ reason: "busy" });
    await expect(engine.commit([moss])).rejects.toMatchObject({ reason: "busy" });
    await expect(engine.listDurable?.({ limit: 9 })).rejects.toMatchObject({ reason: "busy" });
    expect(await engine.list({ limit: 9 })).toEqual([fern.plant]);
  });

  it.each(["warning", "error"])(
    "does not take a commit with a warning for an acknowledgement, client_min_messages=%s",
    async (level) => {
      const url = withOption(await createStoreUrl(primary.url), `client_min_messages=${level}`);
      const engine = await openEngine(url, shortLimits);
      await stopStandby();
      const stop = new AbortController();
      const cancelling = (async () => {
        while (!stop.signal.aborted) await cancelWaits();
      })();
      const outcomes: unknown[] = [];
      // A call whose time is over during an attempt reports that instead.
      await expect
        .poll(async () => {
          const outcome = await engine.commit([pine]).catch((error: unknown) => error);
          outcomes.push(outcome);
          return String(outcome);
        })
        .toContain("standby");
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: "busy" });
      stop.abort();
      await cancelling;
      expect(await isStored(url, 2)).toBe(true);
    },
  );

  it("leaves no sessions that wait for the standby", async () => {
    const { engine } = await openStore(primary.url, shortLimits);
    await stopStandby();
    for (let call = 0; call < 3; call++) await engine.commit([fern]).catch(() => undefined);
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'plantstore'";
    await expect.poll(() => runSql(primary.url, waiting), { timeout: 30_000 }).toEqual([]);
  });

  it("continues when the standby is back", async () => {
    const { engine } = await openStore(primary.url, shortLimits);
    await standby.kill();
    try {
      await expect(engine.commit([fern])).rejects.toMatchObject({ reason: "busy" });
    } finally {
      await standby.start();
      await waitUntilReplicated();
    }
    const check = () => engine.checkWritable().catch((error: unknown) => error);
    await expect.poll(check, { timeout: 30_000 }).toBeUndefined();
    const commit = async () => (await engine.commit([fern]).catch(String))[0];
    await expect.poll(commit, { timeout: 30_000 }).toMatch(/^(?:created|unchanged)$/);
  });
});

describe("an engine that is given several hosts", () => {
  it("uses the primary among them", async () => {
    const url = new URL(await createStoreUrl(primary.url));
    const hosts = `${new URL(standby.url).host},${url.host}`;
    const engine = await openEngine(url.href.replace(url.host, hosts));
    expect(await engine.commit([fern])).toEqual(["created"]);
  });
});

describe("a reader, while a standby does not replay what it has confirmed,", () => {
  const standbyUrl = (url: string): string => url.replace(new URL(url).host, hostOf(standby.url));
  const hostOf = (url: string): string => new URL(url).host;

  async function createUnreplayed(): Promise<string> {
    const { url, engine } = await openStore(primary.url);
    expect(await engine.commit([fern])).toEqual(["created"]);
    // The reader needs the schema there.
    await vi.waitUntil(() => isStored(standbyUrl(url), 1).catch(() => false), { timeout: 30_000 });
    await runSql(standby.url, "SELECT pg_wal_replay_pause()");
    onTestFinished(async () => void (await runSql(standby.url, "SELECT pg_wal_replay_resume()")));
    expect(await engine.commit([pine])).toEqual(["created"]);
    return url;
  }

  it("finds every acknowledged plant if it is given both hosts, without a warning", async () => {
    const url = await createUnreplayed();
    const hosts = `${hostOf(standby.url)},${hostOf(url)}`;
    const warnings: string[] = [];
    const reader = await openReader(url.replace(hostOf(url), hosts), (each) => warnings.push(each));
    expect(await reader.list({ limit: 9 })).toEqual([fern.plant, pine.plant]);
    expect(warnings).toEqual([]);
  });

  it("is warned if it is given only the standby", async () => {
    const url = standbyUrl(await createUnreplayed());
    const warnings: string[] = [];
    const reader = await openReader(url, (each) => warnings.push(each));
    expect(await reader.list({ limit: 9 })).toEqual([fern.plant]);
    expect(warnings).toEqual([
      expect.stringMatching(/^the store .* is a standby, which may lack the newest plants$/),
    ]);
  });
});

it("lets an ordinary user create plants with synchronous replication", async () => {
  const url = await createUserUrl(await createStoreUrl(primary.url), "CREATE");
  const engine = await openEngine(url);
  expect(await engine.commit([fern])).toEqual(["created"]);
  expect(await engine.commit([fern])).toEqual(["unchanged"]);
});
