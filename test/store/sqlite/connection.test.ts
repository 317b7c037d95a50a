/** A connection: a failure affects only its own commit, and the write-ahead log starts again. */
import { stat } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { type StoreConnection, createConnection } from "../../../src/store/sqlite/connection.ts";
import { prepareDatabaseFile } from "../../../src/store/sqlite/store-file.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { packEntries } from "../../../src/store/sqlite/rows.ts";
import { toStoreError } from "../../../src/store/sqlite/driver.ts";
import { toEntry } from "../entries.ts";
import { connect, createPath, provider } from "./stores.ts";

const large = "x".repeat(100_000);

async function open(sqlite = provider) {
  const path = await createPath();
  prepareDatabaseFile(path, false);
  const database = openDatabase(sqlite, path);
  const connection = createConnection(database);
  onTestFinished(() => connection.close());
  return { path, database, connection };
}

function commit(
  connection: StoreConnection,
  ...plants: [id: bigint, name: string][]
): readonly string[] {
  return connection.commit(packEntries(plants.map(([id, name]) => toEntry(id, name))));
}

/** Returns the error of a call as the script of the thread reports it. */
function toError(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return toStoreError(error, "plants.db");
  }
}

describe("a commit that fails halfway", () => {
  it("stores nothing, and the next commit works", async () => {
    const { connection, database } = await open();
    database.exec(`
      CREATE TRIGGER no_moss BEFORE INSERT ON plants WHEN NEW.name = 'moss'
      BEGIN SELECT RAISE(ABORT, 'no moss'); END`);
    expect(toError(() => commit(connection, [1n, "fern"], [2n, "moss"]))).toMatchObject({
      name: "StoreError",
      reason: "failed",
    });
    expect(connection.get(1n)).toBeUndefined();
    expect(commit(connection, [1n, "rose"])).toEqual(["created"]);
  });
});

describe("a commit whose flush fails with an I/O error", () => {
  it("rejects with busy, so that clients retry, and the next commit works", async () => {
    let failures = 0;
    const failing = class extends provider.DatabaseSync {
      override exec(sql: string): void {
        // IOERR_FSYNC (https://sqlite.org/rescode.html#ioerr_fsync)
        const error = Object.assign(new Error("disk I/O error"), { errcode: 1034 });
        if (sql === "COMMIT" && failures-- > 0) throw error;
        super.exec(sql);
      }
    };
    const { connection } = await open({ DatabaseSync: failing });
    failures = 1;
    expect(toError(() => commit(connection, [1n, "fern"]))).toMatchObject({
      name: "StoreError",
      reason: "busy",
      message: expect.stringContaining("cannot read or write its disk: check the disk"),
    });
    expect(connection.get(1n)).toBeUndefined();
    expect(commit(connection, [1n, "fern"])).toEqual(["created"]);
  });
});

describe("a database without room", () => {
  /** Opens a database that may grow by a few pages only. */
  async function openSmall() {
    const opened = await open();
    opened.database.exec("PRAGMA max_page_count = 10");
    return opened;
  }

  it("rejects a whole commit that does not fit, accepts one that fits, and stores the first once there is room", async () => {
    const { connection, database } = await openSmall();
    expect(toError(() => commit(connection, [1n, "fern"], [2n, large]))).toMatchObject({
      name: "StoreError",
      reason: "full",
    });
    expect(connection.get(1n)).toBeUndefined();
    expect(connection.get(2n)).toBeUndefined();
    expect(commit(connection, [3n, "fern"])).toEqual(["created"]);
    database.exec("PRAGMA max_page_count = 1000");
    expect(commit(connection, [2n, large])).toEqual(["created"]);
  });

  it("rejects a token too", async () => {
    const { connection } = await openSmall();
    const token = { digest: "ab", prefix: "pst_ab", name: large, issuedAtMs: 1 };
    expect(toError(() => connection.addToken(token))).toMatchObject({ reason: "full" });
    expect(connection.listTokens()).toEqual([]);
  });
});

describe("the write-ahead log", () => {
  it("grows while a reader needs it, and starts again after that", async () => {
    const { path, connection } = await open();
    const readSize = async () => (await stat(`${path}-wal`)).size;
    const commitMany = (first: bigint) => {
      for (let id = first; id < first + 400n; id++) commit(connection, [id, large]);
    };
    commitMany(0n);
    const short = await readSize();
    expect(short).toBeLessThan(33 * 2 ** 20);
    commitMany(400n);
    expect(await readSize()).toBe(short);

    const reader = connect(path);
    reader.exec("BEGIN");
    reader.exec("SELECT count(*) FROM plants");
    commitMany(800n);
    const long = await readSize();
    expect(long).toBeGreaterThan(38 * 2 ** 20);
    reader.exec("COMMIT");
    commitMany(1200n);
    expect(await readSize()).toBeLessThan(long + 2 ** 20);
  });
});
