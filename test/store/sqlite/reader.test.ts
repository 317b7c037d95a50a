/** A reader of an existing store: reads the acknowledged plants, and changes nothing. */
import { readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { backupSqliteFile, verifySqliteFile } from "../../../src/store/sqlite/backup.ts";
import { isForMainThread } from "../../../src/store/sqlite/driver.ts";
import { openSqliteReader } from "../../../src/store/sqlite/reader.ts";
import { canMountDisks, openLoopDisk } from "../../helpers/loop-disk.ts";
import { run } from "../../helpers/run.ts";
import { containing, runCli } from "../../helpers/run-cli.ts";
import { changeStore } from "../../helpers/sqlite-store.ts";
import { change, toWork } from "../../helpers/stored-plants.ts";
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

/** A frame of the log: its header, and a page. */
const frameBytes = 24 + 4096;

/** Copies the files that a process left when it was killed after three commits. @returns the path of the copy */
async function createCrashed(copy?: string): Promise<string> {
  const path = await createPath();
  const store = await openServedStore(path);
  // The tables are in the file, and the plants in the log.
  await change(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  for (const id of [1n, 2n, 3n]) await store.create({ id, name: `plant ${id}` }, "reject");
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
});

describe("a reader of the files that a killed process left", () => {
  it.each<[log: string, plants: number, change: (log: Buffer) => Buffer]>([
    ["whole", 3, (log) => log],
    [
      "with frames of a commit that was never flushed",
      3,
      (log) => {
        const frame = Buffer.from(log.subarray(-frameBytes));
        // The number of a page, and of the pages in the database after the commit.
        frame.writeUInt32BE(9999, 0);
        frame.writeUInt32BE(9999, 4);
        return Buffer.concat([log, frame]);
      },
    ],
    ["cut in its last commit", 2, (log) => log.subarray(0, -1)],
    ["damaged in its last commit", 2, (log) => log.fill(0xaa, log.length - 9, log.length - 8)],
    ["damaged in its header", 0, (log) => log.fill(0xaa, 8, 9)],
    ["empty", 0, () => Buffer.alloc(0)],
  ])("finds what SQLite finds, and changes neither file nor log: %s", async (_, plants, spoil) => {
    const path = await createCrashed();
    await writeFile(`${path}-wal`, spoil(await readFile(`${path}-wal`)));
    const readBoth = () => Promise.all(["", "-wal"].map((suffix) => readFile(path + suffix)));
    const before = await readBoth();

    const reader = await openSqliteReader(path);
    expect(await reader.count({})).toBe(plants);
    await reader.close();
    expect(await verifySqliteFile(path)).toMatchObject({ plants });
    const target = join(await createTemporaryDirectory(), "backup");
    expect(await backupSqliteFile(path, target, toWork())).toMatchObject({ plants });
    expect(await readBoth()).toEqual(before);
  });

  it("leaves a journal to the next server", async () => {
    const path = await createClosedFile();
    await change(path, "PRAGMA journal_mode = DELETE");
    const other = connect(path);
    other.exec("PRAGMA cache_size = 1; BEGIN; UPDATE plants SET name = hex(zeroblob(99999))");
    const copy = await copyCrashed(path);
    const before = await readFile(`${copy}-journal`);
    for (const open of [openSqliteReader, verifySqliteFile]) {
      await expectRejection(
        open(copy),
        "unusable",
        `${copy} was being created or restored when that was interrupted: start a server on it once`,
      );
    }
    const result = await runCli(["verify", copy]);
    expect(result).toExit(
      2,
      containing(`For example:\n  plantstore serve --store sqlite:${copy}\n`),
    );
    expect(await readFile(`${copy}-journal`)).toEqual(before);
    await (await openServedStore(copy)).close();
    expect(await (await openReader(copy)).get(1n)).toEqual(firstPlant);
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

  it("rejects a store with a log, so that it omits no plant", async () => {
    const copy = await createCrashed();
    await block(`${copy}-shm`);
    await expectRejection(
      openSqliteReader(copy),
      "unusable",
      `the store ${copy} has a log that cannot be read: make its directory and the files that end in -wal and -shm accessible, or copy the file and its log to another directory`,
    );
  });

  it.runIf(canMount)(
    "rejects a store on a read-only disk only if its log has commits",
    async () => {
      const disk = await openLoopDisk();
      onTestFinished(() => disk.close());
      const copy = await createCrashed(join(disk.directory, "copy.db"));
      const empty = await createCrashed(join(disk.directory, "empty.db"));
      await truncate(`${empty}-wal`);
      await run("mount", ["-o", "remount,ro", disk.directory]);
      await expectRejection(openSqliteReader(copy), "unusable", "has a log that cannot be read: ");
      expect(await (await openReader(empty)).count({})).toBe(0);
    },
  );
});
