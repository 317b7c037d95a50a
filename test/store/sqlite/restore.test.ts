/** Restores: a copy of a backup takes the place of a store, which remains under another name. */
import { existsSync, renameSync } from "node:fs";
import { chmod, chown, copyFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { backupSqliteFile, restoreSqliteFile } from "../../../src/store/sqlite/backup.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import {
  change,
  createPages,
  createStore,
  fern,
  listFiles,
  readPlants,
  toWork,
} from "../../helpers/stored-plants.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { run } from "../../helpers/run.ts";
import { canMountSmallDisks, openSmallDisk } from "../../helpers/small-disk.ts";
import { isRoot } from "../../helpers/untested.ts";
import { expectRejection } from "../expect-rejection.ts";
import { copyCrashed, openServedStore } from "./stores.ts";

const canMount = await canMountSmallDisks();

/** Expects that a restore is rejected. */
const expectUnusable = (backup: string, path: string, problem: string, isForced = true) =>
  expectRejection(restoreSqliteFile(backup, path, toWork(isForced)), "unusable", problem);

describe("a restore", () => {
  async function createBackup(): Promise<string> {
    const path = await createStore();
    await backupSqliteFile(path, `${path}.backup`, toWork());
    return `${path}.backup`;
  }

  it("creates a store for its owner only, but no directory", async () => {
    const backup = await createBackup();
    const directory = await createTemporaryDirectory();
    const path = join(directory, "plants.db");
    await expectUnusable(
      backup,
      join(directory, "disk", "plants.db"),
      "/disk does not exist: create it, or mount its disk",
      false,
    );
    expect(await listFiles(path)).toEqual([]);
    const restored = await restoreSqliteFile(backup, path, toWork());
    expect(restored).toEqual({ path, plants: 2, bytes: (await stat(path)).size });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readPlants(path)).toEqual(await readPlants(backup));
    expect(await listFiles(path)).toEqual(["plants.db"]);
  });

  it.runIf(isRoot)("by root keeps the owner and the mode of the store it replaces", async () => {
    const backup = await createBackup();
    const path = await createStore([fern]);
    await chown(path, 4711, 4712);
    await chmod(path, 0o640);
    const { oldPath = "" } = await restoreSqliteFile(backup, path, toWork(true));
    for (const file of [path, oldPath]) {
      const { uid, gid, mode } = await stat(file);
      expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 4711, gid: 4712, mode: 0o640 });
    }
    expect(await readPlants(path)).toEqual(await readPlants(backup));
  });

  it("replaces a store with plants only when forced, and keeps it", async () => {
    const backup = await createBackup();
    const path = await createStore([{ ...fern, name: "old" }]);
    const before = await readPlants(path);
    await expectUnusable(backup, path, "has plants: replace it with --force", false);
    expect(await readPlants(path)).toEqual(before);

    const { oldPath = "" } = await restoreSqliteFile(backup, path, toWork(true));
    expect(await readPlants(path)).toEqual(await readPlants(backup));
    expect(await readPlants(oldPath)).toEqual(before);
    expect((await stat(oldPath)).mode & 0o777).toBe(0o600);
    expect(oldPath).toMatch(/plants\.db\.replaced-\d{8}T\d{6}\.\d{3}Z$/);
    expect(await listFiles(path)).toEqual(["plants.db", oldPath.split("/").at(-1)]);
  });

  it("keeps every store that it replaces, also within a second", async () => {
    const backup = await createBackup();
    const path = await createStore([fern]);
    const kept = new Set<string | undefined>();
    for (let count = 0; count < 5; count++) {
      kept.add((await restoreSqliteFile(backup, path, toWork(true))).oldPath);
    }
    expect(await listFiles(path)).toEqual([
      "plants.db",
      ...[...kept].map((oldPath = "") => oldPath.split("/").at(-1)),
    ]);
    expect(kept.size).toBe(5);
  });

  it("keeps the commits that a killed server left in the log", async () => {
    const backup = await createBackup();
    const path = await createStore([]);
    const store = await openServedStore(path);
    await store.create({ id: 7n, name: "in the log" }, "reject");
    const killed = await copyCrashed(path);
    await copyFile(`${path}-shm`, `${killed}-shm`);
    await store.close();

    const { oldPath = "" } = await restoreSqliteFile(backup, killed, toWork(true));
    expect((await readPlants(oldPath)).plants).toEqual([{ id: 7n, name: "in the log" }]);
    expect((await readPlants(killed)).plants).toHaveLength(2);
    expect(await listFiles(killed)).toEqual(["plants.db", oldPath.split("/").at(-1)]);
  });

  it.each([
    ["damaged", "UPDATE plants SET name = CAST(x'ff' AS TEXT)", "is damaged: restore an intact"],
    [
      "with a trigger",
      "CREATE TRIGGER t AFTER INSERT ON plants BEGIN DELETE FROM tokens; END",
      "has triggers of another program",
    ],
  ])("of a backup that is %s changes nothing", async (_, sql, problem) => {
    const backup = await createBackup();
    await change(backup, sql);
    const path = await createStore([fern]);
    const before = await readFile(path);
    const missing = join(await createTemporaryDirectory(), "a/plants.db");
    for (const store of [path, missing]) {
      const restored = restoreSqliteFile(backup, store, toWork(true));
      await expectRejection(restored, "damaged", `the file ${backup} ${problem}`);
    }
    expect(existsSync(join(missing, ".."))).toBe(false);
    expect(await readFile(path)).toEqual(before);
    expect(await listFiles(path)).toEqual(["plants.db"]);
  });

  it.runIf(canMount)("replaces no store whose old log cannot be removed", async () => {
    const backup = await createBackup();
    const path = await createStore([fern]);
    const before = await readPlants(path);
    await writeFile(`${path}-wal`, "");
    // Nobody can remove a file that is mounted.
    await run("mount", ["--bind", backup, `${path}-wal`]);
    onTestFinished(async () => void (await run("umount", ["--lazy", `${path}-wal`])));
    await expectUnusable(
      backup,
      path,
      "is not replaced, because its old log or journal cannot be removed: remove the files of the same name that end in -wal, -shm and -journal, then restore again",
    );
    expect(await readPlants(path)).toEqual(before);
  });

  it.runIf(canMount).each([[0], [10], [60]])(
    "fails with advice on a disk that has %i kB left, and keeps the store",
    async (kilobytes) => {
      const backup = await createBackup();
      const plants = createPages();
      const path = join(await openSmallDisk(2), "plants.db");
      await copyFile(await createStore(plants), path);
      const { size } = await stat(path);
      const filler = 2 ** 21 - size - kilobytes * 1000;
      await writeFile(join(path, "../filler"), Buffer.alloc(filler));
      await expectRejection(
        restoreSqliteFile(backup, path, toWork(true)),
        "full",
        /free some space (?:on its disk|there)/,
      );
      expect(await listFiles(path)).toEqual(["filler", "plants.db"]);
      expect((await readPlants(path)).plants).toEqual(plants);
    },
  );

  it("replaces a store with a damaged page, and explains what to do if its schema is damaged", async () => {
    const backup = await createBackup();
    const path = await createStore(createPages());
    const bytes = await readFile(path);
    bytes.fill(0xaa, 8192);
    await writeFile(path, bytes);
    await restoreSqliteFile(backup, path, toWork(true));
    expect((await readPlants(path)).plants).toHaveLength(2);

    bytes.fill(0xaa, 100, 4096);
    await writeFile(path, bytes);
    await expectUnusable(backup, path, "so damaged that it cannot be replaced: move the file");
    expect((await readFile(path)).equals(bytes)).toBe(true);
  });

  it("that replaces a store while a server opens it makes the server fail", async () => {
    const path = await createStore();
    const other = await createStore([fern]);
    // The file is found before this returns, and opened later.
    const opening = openSqliteEngine(path);
    renameSync(other, path);
    await expectRejection(opening, "full", "was removed or replaced");
    expect((await readPlants(path)).plants).toEqual([fern]);
  });

  it("rejects the store itself as its backup", async () => {
    const path = await createStore();
    await expectUnusable(path, path, "is the store itself");
  });
});
