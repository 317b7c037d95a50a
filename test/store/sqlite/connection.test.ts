/** A connection: what fails costs only the commit that it hits, and the write-ahead log is begun anew when it is told to. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { int64Max } from "../../../src/core/int64.ts";
import type { CreateRequest } from "../../../src/core/store.ts";
import { type Connection, createConnection } from "../../../src/store/sqlite/connection.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { loadSqlite, type SqliteDatabase } from "../../../src/store/sqlite/provider.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

const provider = await loadSqlite();
const large = "x".repeat(100_000);

interface Opened {
  readonly path: string;
  readonly database: SqliteDatabase;
  readonly connection: Connection;
}

async function open(): Promise<Opened> {
  const path = join(await createTemporaryDirectory(), "plants.db");
  const database = await openDatabase(provider, path);
  const connection = createConnection(database, path);
  onTestFinished(() => connection.close());
  return { path, database, connection };
}

function toRequest(id: bigint, name: string): CreateRequest {
  return { plant: { id, name }, onConflict: "reject" };
}

describe("a commit that fails halfway", () => {
  it("leaves nothing of itself behind, and the next one works", async () => {
    const { connection } = await open();
    const requests = [toRequest(1n, "fern"), toRequest(int64Max + 1n, "moss")];
    await expect(connection.commit(requests)).rejects.toMatchObject({
      name: "StoreError",
      reason: "failed",
    });
    expect(await connection.get(1n)).toBeUndefined();
    expect(await connection.commit([toRequest(1n, "moss")])).toEqual(["created"]);
  });
});

describe("a database without room", () => {
  /** A database that may grow by a few pages only. */
  async function openSmall(): Promise<Opened> {
    const opened = await open();
    opened.database.exec("PRAGMA max_page_count = 10");
    return opened;
  }

  it("rejects with full and stores nothing of the commit", async () => {
    const { connection } = await openSmall();
    const commit = connection.commit([toRequest(1n, "fern"), toRequest(2n, large)]);
    await expect(commit).rejects.toMatchObject({ name: "StoreError", reason: "full" });
    expect(await connection.get(1n)).toBeUndefined();
    expect(await connection.get(2n)).toBeUndefined();
  });

  it("takes what fits, and everything once there is room", async () => {
    const { connection, database } = await openSmall();
    const commit = connection.commit([toRequest(1n, large)]);
    await expect(commit).rejects.toMatchObject({ reason: "full" });
    expect(await connection.commit([toRequest(2n, "fern")])).toEqual(["created"]);
    database.exec("PRAGMA max_page_count = 1000");
    expect(await connection.commit([toRequest(1n, large)])).toEqual(["created"]);
  });

  it("rejects a token too", async () => {
    const { connection } = await openSmall();
    const token = { digest: "ab", prefix: "pst_ab", name: large, issuedAtMs: 1 };
    await expect(connection.addToken(token)).rejects.toMatchObject({ reason: "full" });
    expect(await connection.listTokens()).toEqual([]);
  });
});

describe("the write-ahead log", () => {
  async function openWithReader() {
    const opened = await open();
    const reader = new provider.DatabaseSync(opened.path);
    onTestFinished(() => reader.close());
    await opened.connection.commit([toRequest(1n, large)]);
    return { ...opened, reader };
  }

  /** Reads in a transaction that ends with the next COMMIT. */
  function beginRead(reader: SqliteDatabase): void {
    reader.exec("BEGIN");
    reader.exec("SELECT count(*) FROM plants");
  }

  it("is not begun anew under somebody who reads for long, and commits go on after a while", async () => {
    const { path, connection, reader } = await openWithReader();
    beginRead(reader);
    await connection.commit([toRequest(2n, large)]);
    const { size } = await stat(`${path}-wal`);
    expect(await connection.restartLog()).toBe(false);
    expect(await connection.commit([toRequest(3n, large)])).toEqual(["created"]);
    expect((await stat(`${path}-wal`)).size).toBeGreaterThan(size);
  });

  it("is begun anew by the next commit otherwise, and keeps its length", async () => {
    const { path, connection, reader } = await openWithReader();
    beginRead(reader);
    reader.exec("COMMIT");
    const { size } = await stat(`${path}-wal`);
    expect(await connection.restartLog()).toBe(true);
    expect(await connection.commit([toRequest(2n, large)])).toEqual(["created"]);
    expect((await stat(`${path}-wal`)).size).toBe(size);
    expect(await connection.get(1n)).toEqual({ id: 1n, name: large });
  });

  it("is measured in pages", async () => {
    const { path, connection } = await openWithReader();
    const pages = await connection.checkpoint();
    // A header of 32 bytes, and one of 24 before each page (https://sqlite.org/fileformat.html, "WAL file format").
    expect((await stat(`${path}-wal`)).size).toBe(32 + pages * (24 + 4096));
  });
});
