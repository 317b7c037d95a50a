/** The engine survives lost connections and a lost server, and every result that it returns is true. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientBase } from "pg";
import { describe, expect, it, vi } from "vitest";
import type { NewPlant } from "../../../src/core/plant.ts";
import type { ChangeResult, CommitEntry, StoreEngine } from "../../../src/core/store.ts";
import { createGroupCommitStore } from "../../../src/store/group-commit.ts";
import { createCommit } from "../../../src/store/postgres/commit.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import type { Limits, DatabaseWork } from "../../../src/store/postgres/database.ts";
import { listAll } from "../../helpers/all-plants.ts";
import { createStoreUrl, generousLimits, runSql, usePostgres } from "../../helpers/postgres.ts";
import { toEntries, toEntry } from "../entries.ts";
import { expectRejection } from "../expect-rejection.ts";
import { type Fate, openLossyProxy } from "./lossy-proxy.ts";
import { openClient, openEngine, openStore } from "./stores.ts";

const postgres = usePostgres();
/** Shorter than the default limits. */
const shortLimits: Limits = {
  connectMs: 2000,
  statementMs: 1500,
  responseMs: 2000,
  idleInTransactionMs: 2500,
  callMs: 4000,
  shortCallMs: 1500,
};
const fern = { id: 1n, name: "fern" };
const moss = { id: 1n, name: "moss" };

/** Returns a decision for the first `count` messages that contain a text. */
function meet(text: string, fate: Fate, count = 1): { decide: (message: string) => Fate } {
  let left = count;
  return { decide: (message) => (message.includes(text) && left-- > 0 ? fate : "pass") };
}

describe("a connection that is lost during a commit", () => {
  const moments: [string, string, Fate, number][] = [
    ["before it begins", "BEGIN", "lose", 1],
    ["with the plants", "INSERT INTO plants (", "lose", 1],
    ["with the response to the plants", "INSERT INTO plants (", "lose response", 1],
    ["before it is committed", "; COMMIT", "lose", 1],
    ["after it was committed", "; COMMIT", "lose response", 1],
    ["after it was committed, and before, and after", "; COMMIT", "lose response", 3],
  ];

  /** Opens a store with plants, whose connection is lost after that. */
  async function openLossyStore(text: string, fate: Fate, count: number, plants: NewPlant[]) {
    const { decide } = meet(text, fate, count);
    let isOpen = false;
    const url = await createStoreUrl(postgres.url);
    const proxy = await openLossyProxy(url, (message) => (isOpen ? decide(message) : "pass"));
    const engine = await openEngine(proxy.url);
    await engine.commit(toEntries(plants));
    isOpen = true;
    return { proxy, engine };
  }

  it.each(moments)("%s does not change the results", async (_, text, fate, count) => {
    const before = { id: 2n, name: "there before" };
    const { proxy, engine } = await openLossyStore(text, fate, count, [before]);

    const results = await engine.commit([
      ...toEntries([fern, fern, moss]),
      ...toEntries([moss], "replace"),
      ...toEntries([fern]),
      ...toEntries([before]),
      ...toEntries([{ id: 2n, name: "there now" }], "replace"),
    ]);
    expect(proxy.losses).toBe(count);
    expect(results.join(" ")).toBe(
      "created unchanged conflict replaced conflict unchanged replaced",
    );
    expect(await engine.list({ limit: 10 })).toEqual([moss, { id: 2n, name: "there now" }]);
  });

  it.each(moments.slice(3))("%s does not change what a deletion returns", async (...moment) => {
    const [, text, fate, count] = moment;
    const pine = { id: 2n, name: "pine" };
    const plants = [fern, pine, { id: 3n, name: "rose" }];
    const { proxy, engine } = await openLossyStore(text, fate, count, plants);
    const deletions = [3n, 4n, 1n].map((id) => ({ kind: "delete", id }) as const);
    expect(await engine.commit(deletions)).toEqual(["deleted", "absent", "deleted"]);
    expect(proxy.losses).toBe(count);
    expect(await engine.list({ limit: 10 })).toEqual([pine]);
  });

  /** Opens an engine that loses its connection at COMMIT. Another engine makes changes before the next attempt. */
  async function openMeddledEngine(
    fate: Fate,
    otherEntries: readonly CommitEntry[],
    stored: readonly NewPlant[] = [],
    restart?: (url: string) => Promise<void>,
  ): Promise<StoreEngine> {
    const url = await createStoreUrl(postgres.url);
    const other = await openEngine(url);
    await other.commit(toEntries(stored));
    let state: "opening" | "waiting" | "lost" | "written" = "opening";
    const proxy = await openLossyProxy(url, (message) => {
      if (state === "lost") return "lose";
      if (state !== "waiting" || !message.includes("; COMMIT")) return "pass";
      state = "lost";
      void (async () => {
        await other.commit(otherEntries);
        await restart?.(url);
        state = "written";
      })();
      return fate;
    });
    const engine = await openEngine(proxy.url);
    state = "waiting";
    return engine;
  }

  const remove = { kind: "delete", id: 1n } as const;
  const creates = toEntries([fern]);
  const replaces = toEntries([fern], "replace");
  const others = toEntries([moss], "replace");

  it.each<[string, CommitEntry[], CommitEntry[], NewPlant[], NewPlant | undefined, ChangeResult]>([
    ["a create whose plant was replaced since", creates, others, [], moss, "conflict"],
    ["a replacement that was replaced since", replaces, others, [], moss, "replaced"],
    // The create waits for the commit; a delete alone would not see the plant yet.
    ["a create that was deleted since", creates, [...creates, remove], [], undefined, "created"],
    ["a deletion before a create of others", [remove], toEntries([moss]), [fern], moss, "deleted"],
  ])(
    "after it was committed neither denies nor repeats %s",
    async (_, entries, since, before, after, later) => {
      const engine = await openMeddledEngine("lose response", since, before);
      await expectRejection(engine.commit(entries), "busy", "outcome is unknown: try again");
      expect(await engine.get(1n)).toEqual(after);
      expect(await engine.commit(entries)).toEqual([later]);
    },
  );

  it.each<[string, (url: string) => Promise<void>]>([
    [
      "PostgreSQL was killed",
      async () => {
        await postgres.kill();
        await postgres.start();
      },
    ],
    [
      "one of its processes was killed",
      async (url) => {
        const client = await openClient(url);
        client.on("error", () => undefined);
        const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
        process.kill(rows[0]?.pid ?? 0, "SIGKILL");
        const find = () => runSql(url, "SELECT 1").catch(() => undefined);
        await vi.waitUntil(find, { timeout: 20_000 });
      },
    ],
  ])(
    "after it was committed is not taken for another transaction with its id after %s",
    async (_, restart) => {
      const engine = await openMeddledEngine("lose response", [], [moss], restart);
      const entries = [toEntry(2n, "pine"), remove];
      await expectRejection(engine.commit(entries), "busy", "outcome is unknown: try again");
      expect(await engine.commit(entries)).toEqual(["unchanged", "absent"]);
    },
  );

  it("after it was committed does not delete what another server creates during the next attempt", async () => {
    const { url, engine } = await openStore(postgres.url);
    await engine.commit(toEntries([fern]));
    const client = await openClient(url);
    const query = async (text: string, values: unknown[]): Promise<unknown> => {
      const result = await client.query(text, values);
      // The last query before the plants are deleted.
      if (text.includes("pg_xact_status")) await engine.commit(toEntries([moss]));
      return result;
    };
    const transact = async <T>(work: DatabaseWork<T>): Promise<T> => {
      await client.query("BEGIN");
      const result = await work({ query } as unknown as ClientBase);
      await client.query("COMMIT");
      return result;
    };
    const attempt = createCommit([remove]);
    const loseResponse: typeof transact = async (work) => {
      await transact(work);
      throw new Error("lost");
    };
    await expect(attempt(loseResponse)).rejects.toThrow("lost");
    expect(await attempt(transact)).toEqual(["deleted"]);
    expect(await engine.get(1n)).toEqual(moss);
  });

  it.each(["reject", "replace"] as const)(
    "before it is committed does not count the same plant of another server as its own, with %s",
    async (onConflict) => {
      const engine = await openMeddledEngine("lose", toEntries([fern]));
      expect(await engine.commit(toEntries([fern], onConflict))).toEqual(["unchanged"]);
    },
  );

  it("before it is committed replaces what another server stored since", async () => {
    const engine = await openMeddledEngine("lose", toEntries([moss]));
    expect(await engine.commit(toEntries([fern], "replace"))).toEqual(["replaced"]);
    expect(await engine.get(1n)).toEqual(fern);
  });

  it("because a response never arrives does not change the result", async () => {
    const url = await createStoreUrl(postgres.url);
    const { decide } = meet("INSERT INTO plants (", "freeze");
    const proxy = await openLossyProxy(url, decide);
    const limits = { ...generousLimits, responseMs: shortLimits.responseMs };
    const engine = await openEngine(proxy.url, limits);
    expect(await engine.commit(toEntries([fern]))).toEqual(["created"]);
    expect(proxy.losses).toBe(1);
  });

  it("while it is idle does not affect the next call", async () => {
    const { engine } = await openStore(postgres.url);
    await engine.commit(toEntries([fern]));
    await runSql(
      postgres.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plantstore'",
    );
    await expect(engine.checkWritable()).resolves.toBeUndefined();
    expect(await engine.get(1n)).toEqual(fern);
  });
});

/** PostgreSQL was killed during a commit that it has stored. */
function expectUnknownOutcome(error: unknown): undefined {
  expect(error).toMatchObject({ reason: "busy", cause: { code: "OUTCOME_UNKNOWN" } });
}

describe("a PostgreSQL that is killed under load", () => {
  it("has every acknowledged plant after it restarts, and the engine continues", async () => {
    const url = await createStoreUrl(postgres.url);
    const store = createGroupCommitStore(await openPostgresEngine(url, { limits: generousLimits }));
    const acknowledged: NewPlant[] = [];
    const stop = new AbortController();
    let nextId = 0n;
    const clients = Array.from({ length: 32 }, async () => {
      while (!stop.signal.aborted) {
        const id = nextId++;
        const plant = { id, name: `plant ${id}`, tag: `tag ${id}`.repeat(50) };
        const create = () => store.create(plant, "reject");
        const first = await create().catch(expectUnknownOutcome);
        const result = first === undefined ? "unchanged" : "created";
        expect(first ?? (await create())).toMatchObject({ result });
        acknowledged.push(plant);
      }
    });
    for (let round = 0; round < 4; round++) {
      const before = acknowledged.length;
      await vi.waitUntil(() => acknowledged.length > before, { timeout: 30_000 });
      await sleep(300 * Math.random());
      await postgres.kill();
      await postgres.start();
    }
    stop.abort();
    await Promise.all(clients);
    await store.close();

    const engine = await openEngine(url);
    const stored = new Map<bigint, NewPlant>();
    for (const plant of await listAll(engine)) stored.set(plant.id, plant);
    for (const plant of acknowledged) expect(stored.get(plant.id)).toEqual(plant);
    expect(stored.size).toBe(acknowledged.length);
  });

  it("fails calls within their limits, and accepts calls after it restarts", async () => {
    const { engine } = await openStore(postgres.url, shortLimits);
    await engine.commit(toEntries([fern]));
    await postgres.kill();
    const check = () => engine.checkWritable().catch((error: unknown) => error);
    try {
      // Its processes survive it for a moment, and still respond.
      await expect.poll(check).toMatchObject({ reason: "busy" });
      const failure = expect.objectContaining({ name: "StoreError", reason: "busy" });
      await Promise.all([
        expect(engine.commit(toEntries([moss]))).rejects.toEqual(failure),
        expect(engine.get(1n)).rejects.toEqual(failure),
        expect(engine.listTokens()).rejects.toEqual(failure),
      ]);
    } finally {
      await postgres.start();
    }
    await expect.poll(check).toBeUndefined();
    const commit = () => engine.commit(toEntries([moss])).catch((error: unknown) => error);
    await expect.poll(commit).toEqual(["conflict"]);
  });
});

describe("an engine", () => {
  it("closes although its server no longer responds", async () => {
    const url = await createStoreUrl(postgres.url);
    let isFrozen = false;
    const proxy = await openLossyProxy(url, () => (isFrozen ? "freeze" : "pass"));
    const engine = await openPostgresEngine(proxy.url);
    await engine.get(1n);
    isFrozen = true;
    await expect(engine.close()).resolves.toBeUndefined();
  });

  it("rejects every call once it is closed", async () => {
    const engine = await openPostgresEngine(await createStoreUrl(postgres.url));
    await engine.close();
    await expect(engine.get(1n)).rejects.toMatchObject({ reason: "closed" });
    await expect(engine.commit(toEntries([fern]))).rejects.toMatchObject({ reason: "closed" });
    await expect(engine.checkWritable()).rejects.toMatchObject({ reason: "closed" });
  });
});
