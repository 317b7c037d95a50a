/** The SQLite engine: the contract, durability, and failures that affect only their own commit. */
import { copyFile, mkdir, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { int64Max, int64Min } from "../../../src/core/plant.ts";
import type { CreateEntry, StoreEngine } from "../../../src/core/store.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { openSqliteReader } from "../../../src/store/sqlite/reader.ts";
import { loadSqlite } from "../../../src/store/sqlite/driver.ts";
import { createTemporaryDirectory, type OnEnd } from "../../helpers/temporary-directory.ts";
import { bundleProgram, run } from "./programs.ts";
import { describeStoreContract } from "../store-contract.ts";

const provider = await loadSqlite();

async function createPath(onEnd?: OnEnd): Promise<string> {
  return join(await createTemporaryDirectory(onEnd), "plants.db");
}

async function open(path: string): Promise<StoreEngine> {
  const engine = await openSqliteEngine(path);
  onTestFinished(() => engine.close());
  return engine;
}

function toRequest(id: bigint, name: string): CreateEntry {
  return { plant: { id, name }, onConflict: "reject" };
}

describeStoreContract("sqlite", async (onEnd) => openSqliteEngine(await createPath(onEnd)));

describe("a SQLite store", () => {
  it("has every plant and token after it is closed and opened again", async () => {
    const path = await createPath();
    const plants = [
      { id: int64Min, name: "" },
      { id: int64Max, name: "mönstera\0🌱", tag: "" },
    ];
    const token = { digest: "ab", prefix: "pst_ab", name: "laptop", issuedAtMs: 1, expiresAtMs: 2 };
    const before = await openSqliteEngine(path);
    await before.commit(plants.map((plant) => ({ plant, onConflict: "reject" })));
    await before.addToken(token);
    await before.close();

    const after = await open(path);
    for (const plant of plants) expect(await after.get(plant.id)).toStrictEqual(plant);
    expect(await after.listTokens()).toEqual([token]);
  });

  it.each<[how: string, take: (path: string) => Promise<void>]>([
    ["removed", (path) => rm(path)],
    ["moved away", (path) => rename(path, `${path}.old`)],
    ["replaced", (path) => writeFile(`${path}.new`, "").then(() => rename(`${path}.new`, path))],
  ])("rejects every change once its file is %s", async (_how, take) => {
    const path = await createPath();
    const engine = await open(path);
    await engine.commit([toRequest(1n, "fern")]);
    await take(path);
    const token = { digest: "ab", prefix: "pst_ab", name: "laptop", issuedAtMs: 1 };
    const calls = [
      engine.commit([toRequest(2n, "moss")]),
      engine.checkWritable(),
      engine.addToken(token),
      engine.endToken({ digest: "ab", revokedAtMs: 1 }),
    ];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({
        reason: "full",
        message: `the store ${path} was removed or replaced while it was in use: put it back, or restart plantstore`,
      });
    }
  });

  it("reports that its file is missing if its path became a loop of links", async () => {
    const folder = join(await createTemporaryDirectory(), "folder");
    await mkdir(folder);
    const engine = await open(join(folder, "plants.db"));
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
    const path = await createPath();
    const engine = await openSqliteEngine(path);
    await engine.commit([toRequest(1n, "fern")]);
    await rename(path, `${path}.old`);
    // These calls start the second thread.
    const problem = { reason: "full", message: expect.stringContaining("removed or replaced") };
    await expect(engine.get(1n)).rejects.toMatchObject(problem);
    await expect(engine.noteTokenUses(["ab"], 1)).rejects.toMatchObject(problem);
    await engine.close();
    expect(await readdir(dirname(path))).not.toContain(basename(path));
    // The next start does not create it either.
    await expect(openSqliteEngine(path)).rejects.toMatchObject({
      reason: "unusable",
      message: expect.stringMatching(/ is missing, but its log with the last plants exists: put /),
    });
    expect(await readdir(dirname(path))).not.toContain(basename(path));

    await rename(`${path}.old`, path);
    expect(await (await open(path)).get(1n)).toEqual({ id: 1n, name: "fern" });
  });

  describe("that is replaced by another store while it is in use", () => {
    async function replaceStore(path: string): Promise<void> {
      const other = await openSqliteEngine(`${path}.other`);
      await other.commit([toRequest(7n, "moss"), toRequest(8n, "moss")]);
      await other.close();
      await rename(`${path}.other`, path);
    }

    it("does not change the other store with its log", async () => {
      const path = await createPath();
      const engine = await openSqliteEngine(path);
      for (let id = 1n; id < 100n; id++) await engine.commit([toRequest(id, "f".repeat(999))]);
      await replaceStore(path);
      await engine.close();
      const ids = (await (await open(path)).list({ limit: 9 })).map(({ id }) => id);
      expect(ids).toEqual([7n, 8n]);
      expect(await readdir(dirname(path))).toContain(`${basename(path)}-wal.replaced`);
    });

    it("does not change the log that another process started for the other store", async () => {
      const path = await createPath();
      const engine = await openSqliteEngine(path);
      await engine.commit([toRequest(1n, "fern")]);
      await replaceStore(path);
      await rm(`${path}-wal`);
      await rm(`${path}-shm`);
      const successor = await open(path);
      await successor.commit([toRequest(9n, "rose")]);
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
      const path = await createPath();
      const engine = await open(path);
      await engine.commit([toRequest(1n, "fern")]);
      for (const suffix of suffixes) await lose(path + suffix);
      const token = { digest: "ab", prefix: "pst_ab", name: "laptop", issuedAtMs: 1 };
      for (const call of [
        engine.commit([toRequest(2n, "moss")]),
        engine.commit([toRequest(1n, "fern")]),
        engine.checkWritable(),
        engine.addToken(token),
        engine.endToken({ digest: "ab", revokedAtMs: 1 }),
      ]) {
        await expect(call).rejects.toMatchObject(lost);
      }
    });

    // The server must not copy commits if a second server may already use a replacement of the log.
    const harmless = losses.filter(([what]) => what !== "-wal replaced");

    it.each(harmless)("keeps acknowledged plants: %s", async (_what, suffixes, lose) => {
      const path = await createPath();
      const engine = await open(path);
      await engine.commit([toRequest(1n, "fern")]);
      for (const suffix of suffixes) await lose(path + suffix);
      await expect(engine.checkWritable()).rejects.toMatchObject(lost);
      // A process that is killed now leaves these files.
      const copy = await createPath();
      for (const suffix of ["", "-wal"]) {
        await copyFile(path + suffix, copy + suffix).catch(() => undefined);
      }
      expect(await (await open(copy)).get(1n)).toEqual({ id: 1n, name: "fern" });
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
      await Promise.all(engines.map((engine) => engine.commit([toRequest(1n, "plant 1")])));
      for (const [index, path] of paths.entries()) {
        const { log, loss } = cases[index]!;
        const [, suffixes, lose] = loss;
        if (log === "copied log") {
          const other = new provider.DatabaseSync(path);
          other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
          other.close();
        }
        for (const suffix of suffixes) await lose(path + suffix);
      }
      expect(await createInProcess("2")).toEqual(
        paths.map((path): unknown =>
          expect.stringContaining(`StoreError: the store ${path} is locked by another process`),
        ),
      );
      for (const engine of engines) {
        await expect(engine.noteTokenUses(["ab"], 1)).rejects.toMatchObject(lost);
        await engine.close();
      }
      expect(await createInProcess("2")).toEqual(paths.map(() => "created"));
      expect(await createInProcess("1")).toEqual(paths.map(() => "unchanged"));
      for (const path of paths) {
        const database = new provider.DatabaseSync(path);
        onTestFinished(() => database.close());
        expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      }
    });

    it("cannot be opened by a reader", async () => {
      const path = await createPath();
      const engine = await open(path);
      await engine.commit([toRequest(1n, "fern")]);
      await rm(`${path}-shm`);
      await expect(openSqliteReader(path)).rejects.toMatchObject({ reason: "busy" });
      await expect(stat(`${path}-shm`)).rejects.toMatchObject({ code: "ENOENT" });
    });

    it("has every acknowledged plant after a restart", async () => {
      const path = await createPath();
      const engine = await openSqliteEngine(path);
      await engine.commit([toRequest(1n, "fern")]);
      for (const suffix of ["-wal", "-shm"]) await rm(path + suffix);
      await expect(engine.commit([toRequest(2n, "moss")])).rejects.toMatchObject(lost);
      await engine.close();
      const restarted = await open(path);
      expect(await restarted.commit([toRequest(1n, "fern"), toRequest(2n, "moss")])).toEqual([
        "unchanged",
        "created",
      ]);
    });
  });

  it("keeps the log of another server when a symbolic link leads to another file", async () => {
    const directory = dirname(await createPath());
    const [path, link] = [join(directory, "v1.db"), join(directory, "plants.db")];
    await symlink(path, link);
    const engine = await openSqliteEngine(link);
    const other = await openSqliteEngine(path);
    await other.commit([toRequest(1n, "fern")]);
    await rm(link);
    await symlink(join(directory, "v2.db"), link);
    await expect(engine.commit([toRequest(2n, "moss")])).rejects.toMatchObject({ reason: "full" });
    await engine.close();
    expect(await readdir(directory)).toContain("v1.db-wal");
    await other.close();
    expect(await (await open(path)).list({ limit: 9 })).toEqual([{ id: 1n, name: "fern" }]);
  });

  it("writes nothing for creates that change nothing", async () => {
    const path = await createPath();
    const engine = await open(path);
    await engine.commit([toRequest(1n, "fern")]);
    const before = await stat(`${path}-wal`, { bigint: true });
    await engine.commit([toRequest(1n, "fern"), toRequest(1n, "moss")]);
    const after = await stat(`${path}-wal`, { bigint: true });
    expect([after.size, after.mtimeNs]).toEqual([before.size, before.mtimeNs]);
  });
});

describe("a commit with an id that is outside int64", () => {
  it("fails instead of changing the id, and the next commit works", async () => {
    const engine = await open(await createPath());
    const requests = [toRequest(1n, "fern"), toRequest(int64Max + 1n, "moss")];
    await expect(engine.commit(requests)).rejects.toMatchObject({
      name: "StoreError",
      reason: "failed",
    });
    expect(await engine.list({ limit: 2 })).toEqual([]);
    expect(await engine.commit([toRequest(1n, "moss")])).toEqual(["created"]);
  });
});

describe("two engines on one file", () => {
  it("agree on which of several creates of one id succeeds", async () => {
    const path = await createPath();
    const [first, second] = [await open(path), await open(path)];
    expect(await first.commit([toRequest(1n, "fern"), toRequest(2n, "fern")])).toEqual([
      "created",
      "created",
    ]);
    expect(await second.commit([toRequest(1n, "moss"), toRequest(2n, "fern")])).toEqual([
      "conflict",
      "unchanged",
    ]);
    expect(await second.get(1n)).toEqual({ id: 1n, name: "fern" });
  });

  it("see each other's tokens", async () => {
    const path = await createPath();
    const [first, second] = [await open(path), await open(path)];
    await first.addToken({ digest: "ab", prefix: "pst_ab", name: "laptop", issuedAtMs: 1 });
    expect(await second.listTokens()).toHaveLength(1);
  });
});

describe("a store that another connection has locked", () => {
  it("waits for the lock", async () => {
    const path = await createPath();
    const engine = await open(path);
    const other = new provider.DatabaseSync(path);
    onTestFinished(() => other.close());
    // Starts the reading thread.
    await engine.get(1n);

    other.exec("BEGIN IMMEDIATE");
    const committed = engine.commit([toRequest(1n, "fern")]);
    // These take longer than the first attempt of the commit.
    for (let read = 0; read < 20; read++) expect(await engine.get(1n)).toBeUndefined();
    other.exec("ROLLBACK");
    expect(await committed).toEqual(["created"]);
  });

  it("rejects calls with busy if the lock lasts, and works once it is released", async () => {
    const path = await createPath();
    const [first, second] = [await open(path), await open(path)];
    const other = new provider.DatabaseSync(path);
    onTestFinished(() => other.close());

    other.exec("BEGIN IMMEDIATE");
    const rejected = [first.commit([toRequest(1n, "fern")]), second.checkWritable()];
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
    expect(await first.commit([toRequest(1n, "fern")])).toEqual(["created"]);
  });
});

describe("a store that is closed", () => {
  it("leaves one file and no thread", async () => {
    const threads: Worker[] = [];
    const note = (thread: Worker): void => void threads.push(thread);
    process.on("worker", note);
    onTestFinished(() => void process.off("worker", note));

    const path = await createPath();
    const engine = await open(path);
    await engine.commit([toRequest(1n, "fern")]);
    await engine.get(1n);
    expect(threads.map(({ threadId }) => threadId > 0)).toEqual([true, true]);
    await engine.close();
    expect(await readdir(dirname(path))).toEqual(["plants.db"]);
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  });

  it("rejects calls with closed", async () => {
    const engine = await open(await createPath());
    await engine.close();
    await expect(engine.get(1n)).rejects.toMatchObject({ reason: "closed" });
    await expect(engine.checkWritable()).rejects.toMatchObject({ reason: "closed" });
  });
});

it.runIf(process.platform === "linux")(
  "reports that the process has too many open files, whichever file cannot be opened",
  async () => {
    const path = join(await createTemporaryDirectory(), "plants.db");
    const program = await bundleProgram("open-with-few-files");
    const limited = 'ulimit -n 100 && exec "$@"';
    const args = ["-c", limited, "sh", process.execPath, program, path];
    const { stdout, stderr } = await run("sh", args);
    const outcomes = stdout.trim().split("\n");
    expect({ stderr, last: outcomes.pop() }).toEqual({ stderr: "", last: "opened" });
    expect(outcomes.length).toBeGreaterThan(1);
    for (const outcome of outcomes) {
      expect(outcome).toMatch(
        `StoreError: the store ${path} cannot be opened, because this process has too many open files: raise its limit`,
      );
    }
  },
);
