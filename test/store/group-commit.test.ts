/** How creates are batched into commits, on a real engine whose pace and failures are controlled. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  type ChangeResult,
  type PlantStore,
  type StoreEngine,
  StoreError,
} from "../../src/core/store.ts";
import { createGroupCommitStore } from "../../src/store/group-commit.ts";
import { createMemoryEngine } from "../../src/store/memory.ts";

const token = { digest: "ab", prefix: "pst_ab", name: "laptop", issuedAtMs: 0 };

/**
 * Opens a store on a memory engine that records the ids of each commit and then calls `beforeCommit`, which may delay or
 * fail it.
 */
function openStagedStore(
  beforeCommit: () => Promise<void> | void = () => undefined,
  changes: Partial<StoreEngine> = {},
) {
  const engine = createMemoryEngine();
  const commits: bigint[][] = [];
  const store = createGroupCommitStore({
    ...engine,
    async commit(entries) {
      commits.push(entries.map((entry) => (entry.kind === "create" ? entry.plant.id : entry.id)));
      await beforeCommit();
      return engine.commit(entries);
    },
    ...changes,
  });
  return { store, commits, sizes: () => commits.map(({ length }) => length) };
}

async function create(store: PlantStore, id: bigint): Promise<ChangeResult> {
  const { result } = await store.create({ id, name: "fern" }, "reject");
  return result;
}

/** Opens a store whose commits wait, each until `endCommit` is called with its index, or all until `finish` is called. */
function openGatedStore(changes?: Partial<StoreEngine>) {
  const ends: (() => void)[] = [];
  let isFinished = false;
  const staged = openStagedStore(async () => {
    if (!isFinished) await new Promise<void>((resolve) => void ends.push(resolve));
  }, changes);
  const all: Promise<unknown>[] = [];
  /** Starts creates of the ids 0, 1, 2 … */
  const startCreates = (count: number) => {
    const end = all.length + count;
    while (all.length < end) all.push(create(staged.store, BigInt(all.length)));
  };
  return {
    ...staged,
    all,
    startCreates,
    async startCommit() {
      startCreates(1);
      while (staged.commits.length === 0) await endOfTurn();
    },
    endCommit: (index: number) => ends[index]?.(),
    finish() {
      isFinished = true;
      for (const end of ends) end();
      return Promise.all(all);
    },
  };
}

async function endOfTurns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await endOfTurn();
}

describe("a group commit", () => {
  it("commits a single create at the end of the turn, without waiting for another", async () => {
    const { store, commits } = openStagedStore();
    const created = create(store, 1n);
    await endOfTurn();
    await endOfTurn();
    expect(commits).toEqual([[1n]]);
    expect(await created).toBe("created");
  });

  it("puts the creates of one turn into one commit, in their order", async () => {
    const { store, commits } = openStagedStore();
    const all = [create(store, 3n), create(store, 1n)];
    for (let microtask = 0; microtask < 10; microtask++) await Promise.resolve();
    all.push(create(store, 2n));
    await Promise.all(all);
    expect(commits).toEqual([[3n, 1n, 2n]]);
  });

  it("tells each create how many plants its commit has", async () => {
    const { store, commits, all, finish } = openGatedStore();
    const createOne = (id: bigint) => store.create({ id, name: "fern" }, "reject");
    all.push(createOne(1n));
    while (commits.length === 0) await endOfTurn();
    all.push(createOne(2n), createOne(3n), createOne(2n));
    const times = {
      durableAtMs: expect.any(Number) as number,
      waitMs: expect.any(Number) as number,
    };
    expect(await finish()).toEqual([
      { ...times, result: "created", plants: 1 },
      { ...times, result: "created", plants: 3 },
      { ...times, result: "created", plants: 3 },
      { ...times, result: "unchanged", plants: 3 },
    ]);
  });

  it("puts the creates that arrive during a commit into the next one", async () => {
    const { commits, startCommit, startCreates, finish } = openGatedStore();
    await startCommit();
    for (let turn = 0; turn < 3; turn++) {
      startCreates(1);
      await endOfTurn();
    }
    expect(commits).toEqual([[0n]]);
    await finish();
    expect(commits).toEqual([[0n], [1n, 2n, 3n]]);
  });

  it("begins with 32 creates before the turn ends", async () => {
    const { sizes, startCreates, finish } = openGatedStore();
    startCreates(40);
    expect(sizes()).toEqual([32]);
    await finish();
    expect(sizes()).toEqual([32, 8]);
  });

  it("begins a next commit of 32 before it reports the results of the last one", async () => {
    const { commits, all, startCommit, startCreates, finish } = openGatedStore();
    await startCommit();
    const begun = all[0]?.then(() => commits.length);
    startCreates(32);
    await finish();
    expect(await begun).toBe(2);
  });

  it("begins a smaller next commit at the end of the turn", async () => {
    const { sizes, all, startCommit, startCreates, endCommit, finish } = openGatedStore();
    await startCommit();
    startCreates(2);
    endCommit(0);
    await all[0];
    expect(sizes()).toEqual([1]);
    await endOfTurn();
    expect(sizes()).toEqual([1, 2]);
    await finish();
  });

  it("waits while each turn adds a create, until it has 32", async () => {
    const { sizes, startCreates, finish } = openGatedStore();
    startCreates(2);
    for (let count = 3; count <= 31; count++) {
      await endOfTurn();
      startCreates(1);
    }
    expect(sizes()).toEqual([]);
    startCreates(1);
    expect(sizes()).toEqual([32]);
    await finish();
  });

  it("begins with fewer creates after a turn that adds none", async () => {
    const { sizes, startCreates, finish } = openGatedStore();
    startCreates(2);
    await endOfTurn();
    startCreates(1);
    await endOfTurn();
    expect(sizes()).toEqual([]);
    await endOfTurn();
    expect(sizes()).toEqual([3]);
    await finish();
  });

  it("takes at most 1000 creates, and the others after them", async () => {
    const { commits, sizes, startCommit, startCreates, finish } = openGatedStore();
    await startCommit();
    startCreates(2001);
    await finish();
    expect(sizes()).toEqual([1, 1000, 1000, 1]);
    expect(commits.flat()).toEqual(Array.from({ length: 2002 }, (_, id) => BigInt(id)));
  });

  it.each<[what: string, lengths: number[], commits: number[]]>([
    ["together have 4194304 characters", [2 ** 21, 2 ** 21, 1], [1, 2, 1]],
    ["each have more", [2 ** 23, 2 ** 23], [1, 1, 1]],
  ])("takes no more creates once its creates %s", async (_, lengths, expected) => {
    const { store, sizes, all, startCommit, finish } = openGatedStore();
    await startCommit();
    for (const [id, length] of lengths.entries()) {
      const tag = "x".repeat(length / 2);
      all.push(
        store.create({ id: BigInt(id), name: tag.padStart(length - tag.length), tag }, "replace"),
      );
    }
    await finish();
    expect(sizes()).toEqual(expected);
  });

  describe("on an engine that accepts two commits at a time", () => {
    it("begins the second once it has 32 creates, and no third", async () => {
      const { all, sizes, startCreates, endCommit, finish } = openGatedStore({ maxCommits: 2 });
      startCreates(63);
      expect(sizes()).toEqual([32]);
      await endOfTurns();
      expect(sizes()).toEqual([32]);
      startCreates(1);
      expect(sizes()).toEqual([32, 32]);
      startCreates(40);
      await endOfTurns();
      expect(sizes()).toEqual([32, 32]);
      // The third has 32 already, and begins after the first.
      endCommit(0);
      await all[0];
      expect(sizes()).toEqual([32, 32, 40]);
      expect(new Set(await finish())).toEqual(new Set(["created"]));
    });

    it("begins one with fewer creates only after both have ended", async () => {
      const { all, sizes, startCreates, endCommit, finish } = openGatedStore({ maxCommits: 2 });
      startCreates(96 - 1);
      endCommit(0);
      await all[0];
      await endOfTurns();
      expect(sizes()).toEqual([32, 32]);
      endCommit(1);
      await all[32];
      await endOfTurn();
      expect(sizes()).toEqual([32, 32, 31]);
      await finish();
    });

    it("changes tokens while commits are in flight", async () => {
      const { store, sizes, startCreates, finish } = openGatedStore({ maxCommits: 2 });
      startCreates(32);
      await store.addToken(token);
      await store.endToken({ digest: token.digest, revokedAtMs: 1 });
      expect(await store.listTokens()).toEqual([{ ...token, revokedAtMs: 1 }]);
      startCreates(32);
      expect(sizes()).toEqual([32, 32]);
      await finish();
    });
  });

  it("fills the queued commit before it queues another", async () => {
    const { sizes, startCreates, finish } = openGatedStore();
    startCreates(33);
    await endOfTurn();
    startCreates(1);
    await finish();
    expect(sizes()).toEqual([32, 2]);
  });
});

it("checks the store and lists tokens while a commit takes long", async () => {
  const { store, startCommit, finish } = openGatedStore();
  await startCommit();
  expect(await Promise.all([store.checkWritable(), store.listTokens()])).toEqual([undefined, []]);
  expect(await finish()).toEqual(["created"]);
});

describe("a read", () => {
  const reads: [string, (store: PlantStore) => Promise<unknown>][] = [
    ["get", (store) => store.get(1n)],
    ["list", (store) => store.list({ limit: 1 })],
  ];

  /** Opens a store whose reads wait until `open` is called, and which records the end of each. */
  function openSlowStore() {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const engine = createMemoryEngine();
    const log: string[] = [];
    const store = createGroupCommitStore({
      ...engine,
      get: (id) => opened.then(() => engine.get(id)).finally(() => log.push("get")),
      list: (query) => opened.then(() => engine.list(query)).finally(() => log.push("list")),
      close: async () => void log.push("close"),
    });
    return { store, log, open };
  }

  it.each(reads)("%s sees the creates before it", async (_, read) => {
    const { store } = openStagedStore(() => endOfTurn());
    void create(store, 1n);
    expect([await read(store)].flat()).toEqual([{ id: 1n, name: "fern" }]);
  });

  it.each(reads)("%s delays no creates after it", async (_, read) => {
    const { store, open } = openSlowStore();
    const result = read(store);
    expect(await create(store, 1n)).toBe("created");
    open();
    await expect(result).resolves.toBeDefined();
  });

  it.each(reads)("%s delays the close of the store until it ends", async (name, read) => {
    const { store, log, open } = openSlowStore();
    const result = read(store);
    const closed = store.close();
    await endOfTurn();
    open();
    await Promise.all([result, closed]);
    expect(log).toEqual([name, "close"]);
  });

  it("that fails affects no other call", async () => {
    const { store } = openStagedStore(undefined, {
      get: () => Promise.reject(new StoreError("failed", "broken")),
    });
    await expect(store.get(1n)).rejects.toMatchObject({ reason: "failed" });
    expect(await create(store, 1n)).toBe("created");
    await expect(store.close()).resolves.toBeUndefined();
  });
});

describe("a commit that fails", () => {
  it("rejects all of its creates and no others, and the next one works", async () => {
    const failure = new StoreError("full", "no room");
    let begun = 0;
    const { store, commits } = openStagedStore(() => {
      if (++begun === 2) throw failure;
    });

    expect(await create(store, 1n)).toBe("created");
    const second = await Promise.allSettled([create(store, 2n), create(store, 3n)]);
    expect(second).toEqual([
      { status: "rejected", reason: failure },
      { status: "rejected", reason: failure },
    ]);
    expect(await create(store, 4n)).toBe("created");
    expect(commits).toEqual([[1n], [2n, 3n], [4n]]);
    expect(await store.get(2n)).toBeUndefined();
  });

  it("does not prevent reads or the close of the store", async () => {
    const { store } = openStagedStore(() => {
      throw new StoreError("failed", "broken");
    });
    const created = create(store, 1n);
    const read = store.get(1n);
    const closed = store.close();
    await expect(created).rejects.toMatchObject({ reason: "failed" });
    expect(await read).toBeUndefined();
    await expect(closed).resolves.toBeUndefined();
  });

  it("is also one without a result for a change", async () => {
    const { store } = openStagedStore(undefined, { commit: async () => [] });
    await expect(create(store, 1n)).rejects.toMatchObject({ reason: "failed" });
  });
});

describe("the close of a store", () => {
  it("commits the accepted creates, then closes the engine once", async () => {
    const log: string[] = [];
    const close = async () => void log.push("close");
    const { store } = openStagedStore(() => void log.push("commit"), { close });
    const created = create(store, 1n);
    await Promise.all([store.close(), store.close()]);
    await store.close();
    expect(await created).toBe("created");
    expect(log).toEqual(["commit", "close"]);
  });

  it("rejects later creates, even while it waits for a commit", async () => {
    const { store, commits, startCreates, finish } = openGatedStore();
    startCreates(1);
    const closed = store.close();
    await expect(create(store, 2n)).rejects.toMatchObject({ reason: "closed" });
    expect(await finish()).toEqual(["created"]);
    await closed;
    expect(commits).toEqual([[0n]]);
  });
});
