/** The SQLite engine keeps the contract, what it keeps stays, and a failure costs only the commit that it hits. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { int64Max, int64Min } from "../../../src/core/int64.ts";
import type { CreateRequest, StoreEngine } from "../../../src/core/store.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { createSqliteEngine, openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { loadSqlite, type SqliteDatabase } from "../../../src/store/sqlite/provider.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { describeStoreContract } from "../store-contract.ts";

const provider = await loadSqlite();

async function createPath(): Promise<string> {
  return join(await createTemporaryDirectory(), "plants.db");
}

async function open(path: string): Promise<StoreEngine> {
  const engine = await openSqliteEngine(path);
  onTestFinished(() => engine.close());
  return engine;
}

function toRequest(id: bigint, name: string): CreateRequest {
  return { plant: { id, name }, onConflict: "reject" };
}

describeStoreContract("sqlite", async () => openSqliteEngine(await createPath()));

describe("a SQLite store", () => {
  it("has everything after it was closed and opened again", async () => {
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

describe("a commit that fails halfway", () => {
  it("leaves nothing of itself behind, and the next one works", async () => {
    const engine = await open(await createPath());
    const requests = [toRequest(1n, "fern"), toRequest(int64Max + 1n, "moss")];
    await expect(engine.commit(requests)).rejects.toMatchObject({
      name: "StoreError",
      reason: "failed",
    });
    expect(await engine.get(1n)).toBeUndefined();
    expect(await engine.commit([toRequest(1n, "moss")])).toEqual(["created"]);
  });
});

describe("two engines on one file", () => {
  it("agree on which of different creates of one id succeeded", async () => {
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
  it("rejects with busy, and works once the lock is gone", async () => {
    const path = await createPath();
    const engine = await open(path);
    const other = new provider.DatabaseSync(path);
    onTestFinished(() => other.close());

    other.exec("BEGIN IMMEDIATE");
    await expect(engine.commit([toRequest(1n, "fern")])).rejects.toMatchObject({
      name: "StoreError",
      reason: "busy",
      message: expect.stringContaining(`the store ${path} is locked by another process`),
    });
    await expect(engine.checkWritable()).rejects.toMatchObject({ reason: "busy" });
    other.exec("ROLLBACK");
    expect(await engine.commit([toRequest(1n, "fern")])).toEqual(["created"]);
  });
});

describe("a store without room", () => {
  const large = "x".repeat(100_000);

  /** An engine on a database that may grow by a few pages only. */
  async function openSmall(): Promise<{ engine: StoreEngine; database: SqliteDatabase }> {
    const path = await createPath();
    const database = await openDatabase(provider, path);
    const engine = createSqliteEngine(database, path);
    onTestFinished(() => engine.close());
    database.exec("PRAGMA max_page_count = 10");
    return { engine, database };
  }

  it("rejects with full and stores nothing of the commit", async () => {
    const { engine } = await openSmall();
    const commit = engine.commit([toRequest(1n, "fern"), toRequest(2n, large)]);
    await expect(commit).rejects.toMatchObject({ name: "StoreError", reason: "full" });
    expect(await engine.get(1n)).toBeUndefined();
    expect(await engine.get(2n)).toBeUndefined();
  });

  it("takes what fits, and everything once there is room", async () => {
    const { engine, database } = await openSmall();
    await expect(engine.commit([toRequest(1n, large)])).rejects.toMatchObject({ reason: "full" });
    expect(await engine.commit([toRequest(2n, "fern")])).toEqual(["created"]);
    database.exec("PRAGMA max_page_count = 1000");
    expect(await engine.commit([toRequest(1n, large)])).toEqual(["created"]);
  });

  it("rejects a token too", async () => {
    const { engine } = await openSmall();
    const token = { digest: "ab", prefix: "pst_ab", name: large, issuedAtMs: 1 };
    await expect(engine.addToken(token)).rejects.toMatchObject({ reason: "full" });
    expect(await engine.listTokens()).toEqual([]);
  });
});
