/** How creates come together in commits; the engine is real, only its pace and its failures are staged. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type PlantStore, type StoreEngine, StoreError } from "../../src/core/store.ts";
import { createGroupCommit } from "../../src/store/group-commit.ts";
import { createMemoryEngine } from "../../src/store/memory/engine.ts";

const token = { digest: "ab", prefix: "pst_ab", name: "laptop", issuedAtMs: 0 };

/** A memory engine that writes down its commits, by the ids in them, before `beforeCommit` may hold or fail them. */
function createStagedEngine(beforeCommit: () => Promise<void> | void = () => undefined) {
  const engine = createMemoryEngine();
  const commits: bigint[][] = [];
  const staged: StoreEngine = {
    ...engine,
    async commit(requests) {
      commits.push(requests.map(({ plant }) => plant.id));
      await beforeCommit();
      return engine.commit(requests);
    },
  };
  return { staged, commits };
}

/** A gate that is shut until it is opened. */
function createGate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const create = (store: PlantStore, id: bigint) => store.create({ id, name: "fern" }, "reject");

describe("a group commit", () => {
  it("commits a lone create at the end of the turn, without waiting for another", async () => {
    const { staged, commits } = createStagedEngine();
    const store = createGroupCommit(staged);
    const created = create(store, 1n);
    await endOfTurn();
    await endOfTurn();
    expect(commits).toEqual([[1n]]);
    expect(await created).toBe("created");
  });

  it("puts the creates of one turn into one commit, in their order", async () => {
    const { staged, commits } = createStagedEngine();
    const store = createGroupCommit(staged);
    const all = [create(store, 3n), create(store, 1n)];
    for (let microtask = 0; microtask < 10; microtask++) await Promise.resolve();
    all.push(create(store, 2n));
    await Promise.all(all);
    expect(commits).toEqual([[3n, 1n, 2n]]);
  });

  it("puts the creates that arrive during a commit into the next one", async () => {
    const gate = createGate();
    const { staged, commits } = createStagedEngine(() => gate.opened);
    const store = createGroupCommit(staged);
    const all = [create(store, 1n)];
    while (commits.length === 0) await endOfTurn();
    for (const id of [2n, 3n, 4n]) {
      all.push(create(store, id));
      await endOfTurn();
    }
    expect(commits).toEqual([[1n]]);
    gate.open();
    await Promise.all(all);
    expect(commits).toEqual([[1n], [2n, 3n, 4n]]);
  });

  it("takes at most 1000 creates, and the others after them", async () => {
    const { staged, commits } = createStagedEngine();
    const store = createGroupCommit(staged);
    const ids = Array.from({ length: 2001 }, (_, index) => BigInt(index));
    await Promise.all(ids.map((id) => create(store, id)));
    expect(commits.map((commit) => commit.length)).toEqual([1000, 1000, 1]);
    expect(commits.flat()).toEqual(ids);
  });

  it("fills the commit that waits before it begins another", async () => {
    const gate = createGate();
    const { staged, commits } = createStagedEngine(() => gate.opened);
    const store = createGroupCommit(staged);
    const ids = Array.from({ length: 1001 }, (_, index) => BigInt(index));
    const all = ids.map((id) => create(store, id));
    while (commits.length === 0) await endOfTurn();
    all.push(create(store, 1001n));
    gate.open();
    await Promise.all(all);
    expect(commits.map((commit) => commit.length)).toEqual([1000, 2]);
  });

  it("gives each create its own result", async () => {
    const store = createGroupCommit(createStagedEngine().staged);
    const results = await Promise.all([create(store, 1n), create(store, 1n), create(store, 2n)]);
    expect(results).toEqual(["created", "unchanged", "created"]);
  });

  it("has one call under way in the engine at a time", async () => {
    let running = 0;
    let most = 0;
    const engine = createMemoryEngine();
    const slowly =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        most = Math.max(most, ++running);
        await endOfTurn();
        running--;
        return call(...args);
      };
    const store = createGroupCommit({
      commit: slowly(engine.commit),
      get: slowly(engine.get),
      list: slowly(engine.list),
      checkWritable: slowly(engine.checkWritable),
      addToken: slowly(engine.addToken),
      listTokens: slowly(engine.listTokens),
      close: slowly(engine.close),
    });
    await Promise.all([
      create(store, 1n),
      store.get(1n),
      store.list({ limit: 1 }),
      store.checkWritable(),
      store.addToken(token),
      store.listTokens(),
      create(store, 2n),
      store.close(),
    ]);
    expect(most).toBe(1);
  });
});

describe("a commit that fails", () => {
  it("rejects all of its creates and no others, and the next one works", async () => {
    const failure = new StoreError("full", "no room");
    let commitsToCome = 0;
    const { staged, commits } = createStagedEngine(() => {
      if (++commitsToCome === 2) throw failure;
    });
    const store = createGroupCommit(staged);

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

  it("does not keep the store from being read or closed", async () => {
    const { staged } = createStagedEngine(() => {
      throw new StoreError("failed", "broken");
    });
    const store = createGroupCommit(staged);
    const created = create(store, 1n);
    const read = store.get(1n);
    const closed = store.close();
    await expect(created).rejects.toMatchObject({ reason: "failed" });
    expect(await read).toBeUndefined();
    await expect(closed).resolves.toBeUndefined();
  });

  it("is one that leaves a create without a result", async () => {
    const store = createGroupCommit({ ...createMemoryEngine(), commit: async () => [] });
    await expect(create(store, 1n)).rejects.toMatchObject({ reason: "failed" });
  });
});

describe("closing", () => {
  it("commits what was accepted, then closes the engine, once", async () => {
    const log: string[] = [];
    const { staged } = createStagedEngine(() => void log.push("commit"));
    const store = createGroupCommit({ ...staged, close: async () => void log.push("close") });
    const created = create(store, 1n);
    await Promise.all([store.close(), store.close()]);
    await store.close();
    expect(await created).toBe("created");
    expect(log).toEqual(["commit", "close"]);
  });

  it("refuses what comes after it, even while it is still at work", async () => {
    const gate = createGate();
    const { staged, commits } = createStagedEngine(() => gate.opened);
    const store = createGroupCommit(staged);
    const created = create(store, 1n);
    const closed = store.close();
    await expect(create(store, 2n)).rejects.toMatchObject({ reason: "closed" });
    gate.open();
    await closed;
    expect(await created).toBe("created");
    expect(commits).toEqual([[1n]]);
  });
});
