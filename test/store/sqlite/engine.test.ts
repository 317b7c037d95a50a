/** The SQLite engine: the contract, durability, and failures that affect only their own commit. */
import { mkdir, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { int64Max } from "../../../src/core/plant.ts";
import type { StoreEngine } from "../../../src/core/store.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { openSqliteReader } from "../../../src/store/sqlite/reader.ts";
import { change } from "../../helpers/stored-plants.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { toEntry } from "../entries.ts";
import { describeStoreContract } from "../store-contract.ts";
import { expectRejection } from "../expect-rejection.ts";
import { bundleProgram, run } from "./programs.ts";
import { connect, createPath, openEngine, openReader } from "./stores.ts";

const fern = toEntry(1n, "fern");
const moss = toEntry(2n, "moss");
const token = { digest: "ab", prefix: "pst_ab", name: "laptop", issuedAtMs: 1 };

/** Opens a store with one plant. */
async function openWithFern(): Promise<{ path: string; engine: StoreEngine }> {
  const path = await createPath();
  const engine = await openEngine(path);
  await engine.commit([fern]);
  return { path, engine };
}

/** Expects that a store rejects every change, and a create that changes nothing. */
async function expectNoChange(engine: StoreEngine, problem: object): Promise<void> {
  for (const call of [
    engine.commit([moss]),
    engine.commit([fern]),
    engine.checkWritable(),
    engine.addToken(token),
    engine.endToken({ digest: "ab", revokedAtMs: 1 }),
  ]) {
    await expect(call).rejects.toMatchObject(problem);
  }
}

describeStoreContract("sqlite", async (onEnd) => {
  const path = await createPath(onEnd);
  return () => openSqliteEngine(path);
});

describe("a SQLite store", () => {
  it.each<[how: string, take: (path: string) => Promise<void>]>([
    ["removed", (path) => rm(path)],
    ["moved away", (path) => rename(path, `${path}.old`)],
    ["replaced", (path) => writeFile(`${path}.new`, "").then(() => rename(`${path}.new`, path))],
  ])("rejects every change once its file is %s", async (_how, take) => {
    const { path, engine } = await openWithFern();
    await take(path);
    await expectNoChange(engine, {
      reason: "full",
      message: `the store ${path} was removed or replaced while it was in use: put it back, or restart plantstore`,
    });
  });

  it("reports that its file is missing if its path became a loop of links", async () => {
    const folder = join(await createTemporaryDirectory(), "folder");
    await mkdir(folder);
    const engine = await openEngine(join(folder, "plants.db"));
    await rename(folder, `${folder}.old`);
    await symlink(folder, folder);
    const problem = {
      name: "StoreError",
      message: expect.stringMatching(/removed.*\(too many symbolic links encountered\)/),
    };
    await expect(engine.checkWritable()).rejects.toMatchObject(problem);
    await expect(engine.get(1n)).rejects.toMatchObject(problem);
  });

  it("creates no file instead of one that was moved away, and has all plants once it is back", async () => {
    const { path, engine } = await openWithFern();
    await rename(path, `${path}.old`);
    // These calls start the second thread.
    const problem = { reason: "full", message: expect.stringContaining("removed or replaced") };
    await expect(engine.get(1n)).rejects.toMatchObject(problem);
    await expect(engine.recordTokenUse(["ab"], 1)).rejects.toMatchObject(problem);
    await engine.close();
    expect(await readdir(dirname(path))).not.toContain(basename(path));
    // The next start does not create it either.
    await expectRejection(
      openSqliteEngine(path),
      "unusable",
      / is missing, but its log with the last plants exists: put /,
    );
    expect(await readdir(dirname(path))).not.toContain(basename(path));

    await rename(`${path}.old`, path);
    expect(await (await openEngine(path)).get(1n)).toEqual(fern.plant);
  });

  describe("that is replaced by another store while it is in use", () => {
    async function replaceStore(path: string): Promise<void> {
      const other = await openSqliteEngine(`${path}.other`);
      await other.commit([toEntry(7n, "moss"), toEntry(8n, "moss")]);
      await other.close();
      await rename(`${path}.other`, path);
    }

    it("does not change the other store with its log", async () => {
      const path = await createPath();
      const engine = await openSqliteEngine(path);
      for (let id = 1n; id < 100n; id++) await engine.commit([toEntry(id, "f".repeat(999))]);
      await replaceStore(path);
      await engine.close();
      const ids = (await (await openEngine(path)).list({ limit: 9 })).map(({ id }) => id);
      expect(ids).toEqual([7n, 8n]);
      expect(await readdir(dirname(path))).toContain(`${basename(path)}-wal.replaced`);
    });

    it("does not change the log that another process started for the other store", async () => {
      const { path, engine } = await openWithFern();
      await replaceStore(path);
      await rm(`${path}-wal`);
      await rm(`${path}-shm`);
      const successor = await openEngine(path);
      await successor.commit([toEntry(9n, "rose")]);
      await engine.close();
      expect(await readdir(dirname(path))).toContain(`${basename(path)}-wal`);
      expect(await successor.get(9n)).toEqual({ id: 9n, name: "rose" });
    });
  });

  describe("that loses its log or the index of its log while it is in use", () => {
    const lost = {
      name: "StoreError",
      reason: "full",
      message: expect.stringMatching(
        /^the store \S+ lost its log while it was in use: .* Stop every plantstore process /,
      ),
    };
    const losses: [what: string, suffixes: string[], lose: (file: string) => Promise<void>][] = [
      ["-wal removed", ["-wal"], (file) => rm(file)],
      ["-wal moved away", ["-wal"], (file) => rename(file, `${file}.old`)],
      ["-wal replaced", ["-wal"], (file) => rm(file).then(() => writeFile(file, ""))],
      ["-shm removed", ["-shm"], (file) => rm(file)],
      ["-shm replaced", ["-shm"], (file) => rm(file).then(() => writeFile(file, ""))],
      ["both removed", ["-wal", "-shm"], (file) => rm(file)],
    ];

    it.each(losses)("rejects every change: %s", async (_what, suffixes, lose) => {
      const { path, engine } = await openWithFern();
      for (const suffix of suffixes) await lose(path + suffix);
      await expectNoChange(engine, lost);
    });

    it("cannot be opened by another process until it is closed, and then has every plant", async () => {
      const program = await bundleProgram("create-plant");
      const cases = ["fresh log", "copied log"].flatMap((log) =>
        losses
          .slice(0, 2)
          .concat(losses.slice(3, 4), losses.slice(5))
          .map((loss) => ({ log, loss })),
      );
      const paths = await Promise.all(cases.map(() => createPath()));
      const createInProcess = async (id: string): Promise<readonly string[]> => {
        const { stdout } = await run(process.execPath, [program, id, ...paths]);
        return stdout.trimEnd().split("\n");
      };

      const engines = await Promise.all(paths.map((path) => openSqliteEngine(path)));
      await Promise.all(engines.map((engine) => engine.commit([toEntry(1n, "plant 1")])));
      for (const [index, path] of paths.entries()) {
        const { log, loss } = cases[index]!;
        const [, suffixes, lose] = loss;
        if (log === "copied log") await change(path, "PRAGMA wal_checkpoint(TRUNCATE)");
        for (const suffix of suffixes) await lose(path + suffix);
      }
      expect(await createInProcess("2")).toEqual(
        paths.map((path): unknown =>
          expect.stringContaining(`StoreError: the store ${path} is locked by another process`),
        ),
      );
      for (const engine of engines) {
        await expect(engine.recordTokenUse(["ab"], 1)).rejects.toMatchObject(lost);
        await engine.close();
      }
      expect(await createInProcess("2")).toEqual(paths.map(() => "created"));
      expect(await createInProcess("1")).toEqual(paths.map(() => "unchanged"));
      for (const path of paths) {
        const check = connect(path).prepare("PRAGMA integrity_check");
        expect(check.get()).toEqual({ integrity_check: "ok" });
      }
    });

    it("cannot be read without its log, and without the index completely", async () => {
      const { path } = await openWithFern();
      await rename(`${path}-wal`, `${path}-wal.old`);
      await rm(`${path}-shm`);
      await expect(openSqliteReader(path)).rejects.toMatchObject({ reason: "busy" });
      await rename(`${path}-wal.old`, `${path}-wal`);
      expect(await (await openReader(path)).get(1n)).toEqual(fern.plant);
    });
  });

  it("keeps the log of another server when a symbolic link leads to another file", async () => {
    const directory = dirname(await createPath());
    const [path, link] = [join(directory, "v1.db"), join(directory, "plants.db")];
    await symlink(path, link);
    const engine = await openSqliteEngine(link);
    const other = await openSqliteEngine(path);
    await other.commit([fern]);
    await rm(link);
    await symlink(join(directory, "v2.db"), link);
    await expect(engine.commit([moss])).rejects.toMatchObject({ reason: "full" });
    await engine.close();
    expect(await readdir(directory)).toContain("v1.db-wal");
    await other.close();
    expect(await (await openEngine(path)).list({ limit: 9 })).toEqual([fern.plant]);
  });

  it("writes nothing for creates that change nothing", async () => {
    const { path, engine } = await openWithFern();
    const before = await stat(`${path}-wal`, { bigint: true });
    await engine.commit([fern, toEntry(1n, "moss")]);
    const after = await stat(`${path}-wal`, { bigint: true });
    expect([after.size, after.mtimeNs]).toEqual([before.size, before.mtimeNs]);
  });
});

describe("a commit with an id that is outside int64", () => {
  it("fails instead of changing the id, and the next commit works", async () => {
    const engine = await openEngine(await createPath());
    const requests = [fern, toEntry(int64Max + 1n, "moss")];
    await expect(engine.commit(requests)).rejects.toMatchObject({
      name: "StoreError",
      reason: "failed",
    });
    expect(await engine.list({ limit: 2 })).toEqual([]);
    expect(await engine.commit([toEntry(1n, "moss")])).toEqual(["created"]);
  });
});

describe("a store that another connection has locked", () => {
  it("waits for the lock", async () => {
    const path = await createPath();
    const engine = await openEngine(path);
    const other = connect(path);
    // Starts the reading thread.
    await engine.get(1n);

    other.exec("BEGIN IMMEDIATE");
    const committed = engine.commit([fern]);
    // These take longer than the first attempt of the commit.
    for (let read = 0; read < 20; read++) expect(await engine.get(1n)).toBeUndefined();
    other.exec("ROLLBACK");
    expect(await committed).toEqual(["created"]);
  });

  it("rejects calls with busy if the lock lasts, also those that waited for others, and works once it is released", async () => {
    const path = await createPath();
    const [first, second] = [await openEngine(path), await openEngine(path)];
    const third = await openEngine(path);
    const other = connect(path);

    other.exec("BEGIN IMMEDIATE");
    const rejected = [first.commit([fern]), second.checkWritable(), first.commit([moss])];
    // Begins to wait later, and still waits when the last of the others has been rejected.
    const later = sleep(2500).then(() => third.checkWritable());
    expect(await Promise.allSettled(rejected)).toEqual(
      rejected.map(() => ({
        status: "rejected",
        reason: expect.objectContaining({
          name: "StoreError",
          reason: "busy",
          message: expect.stringContaining(`the store ${path} is locked by another process`),
        }),
      })),
    );
    other.exec("ROLLBACK");
    await later;
    expect(await first.commit([fern])).toEqual(["created"]);

    // Longer than a call waits after one that waited in vain.
    await second.checkWritable();
    other.exec("BEGIN IMMEDIATE");
    const committed = second.commit([moss]);
    await sleep(1500);
    other.exec("ROLLBACK");
    expect(await committed).toEqual(["created"]);
  });
});

describe("a store that is closed", () => {
  it("leaves one file and no thread", async () => {
    const threads: Worker[] = [];
    const note = (thread: Worker): void => void threads.push(thread);
    process.on("worker", note);
    onTestFinished(() => void process.off("worker", note));

    const { path, engine } = await openWithFern();
    await engine.get(1n);
    expect(threads.map(({ threadId }) => threadId > 0)).toEqual([true, true]);
    await engine.close();
    expect(await readdir(dirname(path))).toEqual(["plants.db"]);
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  });

  it("rejects calls with closed", async () => {
    const engine = await openEngine(await createPath());
    await engine.close();
    await expect(engine.get(1n)).rejects.toMatchObject({ reason: "closed" });
    await expect(engine.checkWritable()).rejects.toMatchObject({ reason: "closed" });
  });
});
