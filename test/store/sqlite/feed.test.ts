/** The feed of a SQLite store, also while another program deletes plants. */
import { copyFile, readFile, rename } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createGroupCommitStore } from "../../../src/store/group-commit.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { expectRejection } from "../expect-rejection.ts";
import { describeFeedContract, type OpenFeed, readPages } from "../feed-contract.ts";
import { connect, createPath, openReader } from "./stores.ts";

async function open(path: string): Promise<OpenFeed> {
  const store = createGroupCommitStore(await openSqliteEngine(path));
  onTestFinished(() => store.close());
  return { store, reader: await openReader(path) };
}

/** Reads the whole feed, in pages of two. */
async function readFeed({ reader }: Pick<OpenFeed, "reader">, after?: string) {
  const entries = await readPages(reader, after, 2);
  const texts = entries.map(({ id, plant }) => `${id} ${plant?.name ?? "deleted"}`);
  return { texts, last: entries.at(-1)?.cursor ?? after };
}

describeFeedContract("sqlite", async () => open(await createPath()));

describe("the feed of a SQLite store", () => {
  it("has an entry for a plant that another program deletes", async () => {
    const path = await createPath();
    const feed = await open(path);
    for (const id of [1n, 2n]) await feed.store.create({ id, name: "fern" }, "reject");
    const { last } = await readFeed(feed);
    connect(path).exec("DELETE FROM plants WHERE id = 2");
    expect((await readFeed(feed, last)).texts).toEqual(["2 deleted"]);
  });

  it("continues after the store was closed and opened again", async () => {
    const path = await createPath();
    const before = await open(path);
    for (const id of [2n, 1n]) await before.store.create({ id, name: "fern" }, "reject");
    const { last } = await readFeed(before);
    await before.store.delete?.([1n]);
    await before.reader.close();
    await before.store.close();

    const after = await open(path);
    await after.store.create({ id: 3n, name: "fern" }, "reject");
    expect((await readFeed(after, last)).texts).toEqual(["1 deleted", "3 fern"]);
  });

  it("rejects a cursor from after the backup that was restored", async () => {
    const path = await createPath();
    const before = await open(path);
    await before.store.create({ id: 1n, name: "fern" }, "reject");
    await before.reader.close();
    await before.store.close();
    const backup = `${path}.backup`;
    await copyFile(path, backup);
    const later = await open(path);
    const { last } = await readFeed(later);
    await later.store.create({ id: 2n, name: "fern" }, "reject");
    const { last: ahead } = await readFeed(later);

    const restored = await open(backup);
    expect(await restored.reader.readFeed({ after: last, limit: 9 })).toEqual([]);
    await expectRejection(
      restored.reader.readFeed({ after: ahead, limit: 9 }),
      "unusable",
      "it is ahead of the store",
    );
  });

  it("ends with an error when the file is moved away", async () => {
    const path = await createPath();
    const { reader } = await open(path);
    await reader.readFeed({ limit: 1 });
    await rename(path, `${path}.old`);
    await expect(reader.readFeed({ limit: 1 })).rejects.toMatchObject({
      name: "StoreError",
      message: `the store ${path} was removed or replaced while it was in use: put it back, or restart plantstore`,
    });
  });

  it("rejects malformed positions", async () => {
    const { store, reader } = await open(await createPath());
    await store.create({ id: 1n, name: "fern" }, "reject");
    const [entry] = await reader.readFeed({ limit: 1 });
    const storeId = entry?.cursor.slice(0, -1);
    const tooLarge = "9223372036854775808";
    const positions = ["1.5", "-1", "0", "+1", " 1", "01", "1 ", tooLarge, "old:1"];
    for (const position of positions) {
      const reading = reader.readFeed({ after: `${storeId}${position}`, limit: 1 });
      await expect(reading, position).rejects.toThrow(`${position}": it is malformed`);
    }
  });
});

it("leaves no trace of a deleted plant in the files of the store", async () => {
  const path = await createPath();
  const { store, reader } = await open(path);
  const name = "a name that is personal";
  for (let id = 1n; id <= 50n; id++) await store.create({ id, name: `${name} ${id}` }, "reject");
  const long = name.repeat(1000);
  await store.create({ id: 51n, name: long }, "reject");
  expect((await reader.get(51n))?.name).toBe(long);
  await store.delete?.(Array.from({ length: 51 }, (_, index) => BigInt(index + 1)));
  for (const suffix of ["", "-wal"]) {
    expect((await readFile(path + suffix)).includes(name)).toBe(false);
  }
});
