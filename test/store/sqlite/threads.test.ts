/** The threads of the engine: the effects of a crash, and that the two threads do not wait for each other. */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { CreateEntry, StoreEngine } from "../../../src/core/store.ts";
import type * as groupCommitModule from "../../../src/store/group-commit.ts";
import type * as engineModule from "../../../src/store/sqlite/engine.ts";
import { toEntry } from "../entries.ts";
import { expectRejection } from "../expect-rejection.ts";
import { bundle } from "./bundle.ts";
import { createPath } from "./stores.ts";

const { directory, remove } = await bundle({
  engine: "src/store/sqlite/engine.ts",
  "group-commit": "src/store/group-commit.ts",
  // The script of the threads of the engine in this directory.
  "sqlite-worker": "test/store/sqlite/programs/faulty-worker.ts",
});
afterAll(remove);
const { openSqliteEngine } = (await import(join(directory, "engine.js"))) as typeof engineModule;
const { createGroupCommitStore } = (await import(
  join(directory, "group-commit.js")
)) as typeof groupCommitModule;

async function open(): Promise<{ path: string; engine: StoreEngine }> {
  const path = await createPath();
  const engine = await openSqliteEngine(path);
  onTestFinished(() => engine.close());
  return { path, engine };
}

function toCreates(...names: string[]): CreateEntry[] {
  return names.map((name, id) => toEntry(BigInt(id), name));
}

const died = {
  name: "StoreError",
  reason: "failed",
  message: expect.stringMatching(/^the store \S+ crashed during an operation .*: try again/),
};

describe("a thread that ends in the middle of a commit", () => {
  it("fails that commit, which stores nothing, and the next one works", async () => {
    const { engine } = await open();
    await expect(engine.commit(toCreates("fern", "exit", "moss"))).rejects.toMatchObject(died);
    expect(await engine.commit(toCreates("rose"))).toEqual(["created"]);
    expect(await engine.list({ limit: 9 })).toEqual([{ id: 0n, name: "rose" }]);
  });

  it("fails the calls that wait for the commit", async () => {
    const { path, engine } = await open();
    const calls = Promise.allSettled([
      engine.commit(toCreates("exit on release")),
      engine.checkWritable(),
      engine.listTokens(),
    ]);
    // Only now, because a call after the crash starts another thread and succeeds.
    await writeFile(`${path}.release`, "");
    const rejected = { status: "rejected", reason: expect.objectContaining(died) };
    expect(await calls).toEqual([rejected, rejected, rejected]);
    await expect(engine.checkWritable()).resolves.toBeUndefined();
  });

  it("fails the commits that the thread received, and the next one works", async () => {
    const { path, engine } = await open();
    const store = createGroupCommitStore(engine);
    // Two batches of 32: a third could be sent before or after the crash is noticed.
    const names = Array.from({ length: 64 }, (_, index) =>
      index === 50 ? "exit on release" : "fern",
    );
    const creates = names.map((name, id) => store.create({ id: BigInt(id), name }, "reject"));
    const settled = Promise.allSettled(creates);
    // A thread that ends removes its log: the first batch would fail if that happened before its result is looked at.
    await creates[0];
    await writeFile(`${path}.release`, "");
    const outcomes = await settled;
    const created = outcomes.flatMap(({ status }, id) => (status === "fulfilled" ? [id] : []));
    expect(created).toEqual(Array.from({ length: 32 }, (_, id) => id));
    expect((await store.list({ limit: 99 })).map(({ id }) => Number(id))).toEqual(created);
    expect(await store.create({ id: 50n, name: "fern" }, "reject")).toMatchObject({
      result: "created",
    });
  });
});

describe("a thread that fails after a commit", () => {
  it("and before its reply fails the commit, and a retry finds the plant", async () => {
    const { engine } = await open();
    const requests = toCreates("throw after the commit");
    await expect(engine.commit(requests)).rejects.toMatchObject({
      ...died,
      message: expect.stringMatching(/may or may not have been stored: try again \(staged\)$/),
    });
    expect(await engine.get(0n)).toEqual(requests[0]?.plant);
  });

  it("and after its reply does not affect the commit", async () => {
    const { engine } = await open();
    expect(await engine.commit(toCreates("throw after the reply"))).toEqual(["created"]);
    await expect(engine.close()).resolves.toBeUndefined();
  });
});

describe("a thread that cannot start again", () => {
  it("fails commits with the cause, and starts once the cause is gone", async () => {
    const { path, engine } = await open();
    await engine.commit(toCreates("fern"));
    await expect(engine.commit(toCreates("exit"))).rejects.toMatchObject(died);
    await rename(path, `${path}.away`);
    await mkdir(path);
    await expectRejection(engine.commit(toCreates("moss")), "full", "was removed or replaced");
    await rm(path, { recursive: true });
    await rename(`${path}.away`, path);
    expect(await engine.commit(toCreates("moss"))).toEqual(["conflict"]);
  });
});

describe("a read", () => {
  it("that takes long does not delay commits", async () => {
    const { path, engine } = await open();
    const list = engine.list({ limit: 1, tag: "wait for release" });
    expect(await engine.commit(toCreates("fern"))).toEqual(["created"]);
    await writeFile(`${path}.release`, "");
    expect(await list).toEqual([]);
  });

  it("that ends its thread fails no commit", async () => {
    const { engine } = await open();
    const read = engine.list({ limit: 1, tag: "exit" });
    const committed = engine.commit(toCreates("fern"));
    await expect(read).rejects.toMatchObject(died);
    expect(await committed).toEqual(["created"]);
    expect(await engine.get(0n)).toEqual({ id: 0n, name: "fern" });
  });
});
