/** Files of a store that other programs empty or overwrite while it is in use, and those that they may change. */
import { copyFile, rename, truncate } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { CreateEntry, StoreEngine } from "../../../src/core/store.ts";
import {
  backupSqliteFile,
  restoreSqliteFile,
  verifySqliteFile,
} from "../../../src/store/sqlite/backup.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { openSqliteReader } from "../../../src/store/sqlite/reader.ts";
import { change, toWork } from "../../helpers/stored-plants.ts";
import { bundleProgram, run } from "./programs.ts";
import { connect, copyCrashed, createPath, openEngine } from "./stores.ts";

const token = { digest: "ab", prefix: "pst_ab", name: "laptop", issuedAtMs: 1 };

function toRequests(first: number, count: number, name = "fern"): CreateEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    plant: { id: BigInt(first + index), name: name.repeat(500) },
    onConflict: "reject",
  }));
}

/** Creates a store with 300 plants in its database and 600 more in its log: the engine copies the log after 1000. */
async function openWithLog(path: string): Promise<StoreEngine> {
  const engine = await openEngine(path);
  await engine.commit(toRequests(0, 300));
  await change(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  for (let first = 300; first < 900; first += 300) await engine.commit(toRequests(first, 300));
  return engine;
}

/** Creates a store with 3 plants and no log. @returns its path */
async function createSmall(): Promise<string> {
  const path = await createPath();
  const engine = await openSqliteEngine(path);
  await engine.commit(toRequests(7000, 3));
  await engine.close();
  return path;
}

/** Expects that no call acknowledges anything, and returns what the file has once it is closed and opened again. */
async function expectEnd(engine: StoreEngine, path: string, problem: RegExp) {
  const error = { name: "StoreError", reason: "full", message: expect.stringMatching(problem) };
  for (const call of [
    () => engine.commit(toRequests(9000, 1)),
    () => engine.commit(toRequests(0, 1)),
    () => engine.checkWritable(),
    () => engine.addToken(token),
    () => engine.commit(toRequests(9001, 1)),
  ]) {
    await expect(call()).rejects.toMatchObject(error);
  }
  await engine.close();
  const again = await openSqliteEngine(path);
  await again.checkWritable();
  await again.close();
  return verifySqliteFile(path);
}

describe("a log that is emptied while the store is in use", () => {
  const problem =
    /^the store \S+ lost commits while it was in use: .*-wal was emptied .* Stop every/;

  it("ends all acknowledgements, and the database keeps what it had", async () => {
    const path = await createPath();
    const engine = await openWithLog(path);
    await truncate(`${path}-wal`);
    expect(await expectEnd(engine, path, problem)).toMatchObject({ plants: 300 });
  });

  it("is found by a create that changes nothing", async () => {
    const path = await createPath();
    const engine = await openWithLog(path);
    await truncate(`${path}-wal`);
    await expect(engine.commit(toRequests(899, 1))).rejects.toThrow(problem);
  });

  it("is found by every engine on it, and none damages the database", async () => {
    const path = await createPath();
    const engine = await openWithLog(path);
    const other = await openSqliteEngine(path);
    await truncate(`${path}-wal`);
    await expect(engine.commit(toRequests(9000, 1))).rejects.toThrow(problem);
    await expect(other.commit(toRequests(9000, 1))).rejects.toThrow(problem);
    await other.close();
    expect(await expectEnd(engine, path, problem)).toMatchObject({ plants: 300 });
  });
});

describe("a database that is overwritten while the store is in use", () => {
  it("ends all acknowledgements, and remains the copy", async () => {
    const path = await createPath();
    const engine = await openWithLog(path);
    await copyFile(await createSmall(), path);
    expect(await expectEnd(engine, path, / was overwritten while it was in use/)).toMatchObject({
      plants: 3,
    });
  });

  it("by VACUUM keeps every plant", async () => {
    const path = await createPath();
    const engine = await openWithLog(path);
    const other = connect(path);
    other.exec("DELETE FROM plants WHERE id >= 10; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    expect(await expectEnd(engine, path, / became smaller while it was in use/)).toMatchObject({
      plants: 10,
    });
  });
});

describe("a log that belongs to another file", () => {
  /** Leaves the files of a process that was killed after its log had started again. */
  async function createCrashed(): Promise<string> {
    const path = await createPath();
    await openWithLog(path);
    return copyCrashed(path);
  }

  it("is rejected by everything until it is moved away", async () => {
    const path = await createCrashed();
    const small = await createSmall();
    await copyFile(small, path);
    const error = {
      reason: "unusable",
      message: expect.stringMatching(/ has a log that belongs to another file .* move the log, /),
    };
    for (const open of [
      () => openSqliteEngine(path),
      () => openSqliteReader(path),
      () => verifySqliteFile(path),
      () => backupSqliteFile(path, `${path}.backup`, toWork()),
      () => restoreSqliteFile(small, path, toWork(true)),
    ]) {
      await expect(open()).rejects.toMatchObject(error);
    }
    await rename(`${path}-wal`, `${path}-wal.old`);
    expect(await verifySqliteFile(path)).toMatchObject({ plants: 3 });
  });

  it("is not mistaken for the log that a crash left", async () => {
    const path = await createCrashed();
    expect(await verifySqliteFile(path)).toMatchObject({ plants: 900 });
    const engine = await openEngine(path);
    expect(await engine.count({})).toBe(900);
  });
});

describe("a log that other processes truncate or restart", () => {
  it("loses no create, and ends none", async () => {
    const path = await createPath();
    const engine = await openEngine(path);
    const other = await openEngine(path);
    const database = connect(path);
    const program = await bundleProgram("create-plant");
    // Each of these processes closes its connection; one process more would remove the log.
    const processes = run(process.execPath, [program, "-1", path]);
    for (let turn = 0; turn < 200; turn++) {
      const committed = engine.commit(toRequests(10 * turn, 10));
      database.exec(`PRAGMA wal_checkpoint(${turn % 3 === 0 ? "RESTART" : "TRUNCATE"})`);
      const deleted = turn % 5 === 0 ? other.delete?.([BigInt(10 * turn - 1)]) : undefined;
      expect(await committed).toEqual(Array(10).fill("created"));
      expect((await deleted) ?? []).toHaveLength(turn > 0 && deleted ? 1 : 0);
      if (turn % 7 === 0) database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      expect(await engine.commit(toRequests(10 * turn, 1))).toEqual(["unchanged"]);
    }
    expect((await processes).stdout).toBe("created\n");
    expect(await engine.count({})).toBe(2000 - 39 + 1);
  });
});
