/** A reader of an existing store: reads the acknowledged plants, and changes nothing. */
import { readdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isForMainThread } from "../../../src/store/sqlite/driver.ts";
import { openSqliteReader } from "../../../src/store/sqlite/reader.ts";
import { canMountDisks, openLoopDisk } from "../../helpers/loop-disk.ts";
import { run } from "../../helpers/run.ts";
import { changeStore } from "../../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { expectRejection } from "../expect-rejection.ts";
import { connect, copyCrashed, createPath, openReader, openServedStore } from "./stores.ts";

const canMount = await canMountDisks();
const firstPlant = { id: 1n, name: "plant 1" };

/** Creates a file with one plant, and no other files next to it. No process has it open. */
async function createClosedFile(name = "plants.db"): Promise<string> {
  const path = join(await createTemporaryDirectory(), name);
  await changeStore(`sqlite:${path}`, { plants: [firstPlant] });
  expect(await readdir(dirname(path))).toEqual([name]);
  return path;
}

/** Creates a broken link, so that no user can open a file at this path. */
function block(path: string): Promise<void> {
  return symlink(join(dirname(path), "no", "such", "directory"), path);
}

/** Copies the files that a process left when it was killed after a commit. @returns the path of the copy */
async function createCrashed(copy?: string): Promise<string> {
  const path = await createPath();
  const store = await openServedStore(path);
  await store.create(firstPlant, "reject");
  return copyCrashed(path, copy);
}

describe("a reader", () => {
  it("sees the plants that were acknowledged before each of its calls", async () => {
    const path = await createPath();
    const store = await openServedStore(path);
    const reader = await openReader(path);
    expect(await reader.get(1n)).toBeUndefined();
    await store.create(firstPlant, "reject");
    expect(await reader.get(1n)).toEqual(firstPlant);
    expect(await reader.list({ limit: 2 })).toEqual([firstPlant]);
  });

  it("ends its read after a page, so that the log can start again", async () => {
    const path = await createPath();
    const store = await openServedStore(path);
    for (let id = 1n; id <= 3n; id++) await store.create({ id, name: "fern" }, "reject");
    const reader = await openReader(path);
    for (const { list } of [reader, store]) expect(await list({ limit: 1 })).toHaveLength(1);
    await store.create({ id: 4n, name: "fern" }, "reject");
    // A checkpoint that empties the log is busy while anybody reads it.
    const checkpoint = connect(path).prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    expect(checkpoint).toMatchObject({ busy: 0, log: 0 });
    await reader.close();
  });

  it("starts no thread where SQLite can run on the main one", async () => {
    const path = await createClosedFile();
    const onStart = vi.fn<() => void>();
    process.on("worker", onStart);
    onTestFinished(() => void process.off("worker", onStart));
    const reader = await openReader(path);
    expect(await reader.get(1n)).toEqual(firstPlant);
    expect(onStart).toHaveBeenCalledTimes(isForMainThread ? 0 : 1);
  });

  it("reads the plants in the log of a crashed process", async () => {
    const reader = await openReader(await createCrashed());
    expect(await reader.get(1n)).toEqual(firstPlant);
  });
});

describe("a reader that cannot open a log, as on a read-only disk,", () => {
  it.each(["plants.db", "a%20b?c#d.db", "mönstera 🌱.db"])(
    "reads the file alone: %s",
    async (name) => {
      const path = await createClosedFile(name);
      await block(`${path}-wal`);
      const reader = await openReader(path);
      expect(await reader.list({ limit: 2 })).toEqual([firstPlant]);
    },
  );

  it("reads the plants in the log of a crashed process", async () => {
    const copy = await createCrashed();
    await block(`${copy}-shm`);
    const reader = await openReader(copy);
    expect(await reader.list({ limit: 2 })).toEqual([firstPlant]);
  });

  it.runIf(canMount)("rejects a store with a log, so that it omits no plant", async () => {
    const disk = await openLoopDisk();
    onTestFinished(() => disk.close());
    const copy = await createCrashed(join(disk.directory, "copy.db"));
    await run("mount", ["-o", "remount,ro", disk.directory]);
    await expectRejection(
      openSqliteReader(copy),
      "unusable",
      `the store ${copy} cannot be opened: `,
    );
  });
});
