/** The connection of an engine: durable or rejected, and with a recorded schema. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase, openDatabaseToRead } from "../../../src/store/sqlite/database.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import type { SqliteDatabase } from "../../../src/store/sqlite/driver.ts";
import { expectRejection } from "../expect-rejection.ts";
import { connect, createPath, provider } from "./stores.ts";

async function openNew(sqlite = provider): Promise<SqliteDatabase> {
  const path = await createPath();
  const database = openDatabase(sqlite, path);
  onTestFinished(() => database.close());
  return database;
}

/** Returns a SQLite that runs another statement, as it does where a setting is not available. */
function createOtherProvider(asked: string, taken: string): typeof provider {
  return {
    DatabaseSync: class extends provider.DatabaseSync {
      override exec(sql: string): void {
        super.exec(sql.replace(asked, taken));
      }
    },
  };
}

describe("the connection", () => {
  it.each<[string, string | number, string]>([
    ["journal_mode", "wal", "commits go through a write-ahead log"],
    ["synchronous", 2, "FULL: every commit is flushed"],
    ["fullfsync", 1, "a flush includes the disk's own cache on every platform"],
    ["checkpoint_fullfsync", 1, "checkpoints flush the disk's own cache too"],
    ["trusted_schema", 0, "a manipulated schema runs no code"],
    ["cell_size_check", 1, "damage is found early"],
    ["application_id", 0x504c4e54, "the file is marked as a plant store"],
    ["encoding", "UTF-8", "text is stored as the bytes that were received"],
  ])("%s is %s: %s", async (name, value) => {
    const database = await openNew();
    expect(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})).toEqual([value]);
  });

  it("waits for another connection that locks the file during the change to a write-ahead log", async () => {
    const path = await createPath();
    const withoutLog = createOtherProvider("journal_mode = WAL", "journal_mode = DELETE");
    expect(() => openDatabase(withoutLog, path)).toThrow("journal_mode delete");
    const other = connect(path);
    // The commit has to wait when the engine tries its change at that moment.
    other.exec("PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE");

    // In a thread, because waiting blocks it.
    let isOpen = false;
    const opening = openSqliteEngine(path).finally(() => (isOpen = true));
    // Longer than SQLite itself waits.
    await sleep(1500);
    expect(isOpen).toBe(false);
    other.exec("COMMIT");
    const engine = await opening;
    onTestFinished(() => engine.close());
    expect(other.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  it.each([
    ["journal_mode = WAL", "journal_mode = DELETE", "(journal_mode delete, synchronous 2)"],
    ["synchronous = FULL", "synchronous = NORMAL", "(journal_mode wal, synchronous 1)"],
  ])("is rejected when %s has no effect and %s is in use", async (asked, taken, detail) => {
    await expectRejection(openNew(createOtherProvider(asked, taken)), "unusable", detail);
  });
});

describe("a connection to read", () => {
  it("cannot write", async () => {
    const path = await createPath();
    openDatabase(provider, path).close();
    const database = openDatabaseToRead(provider, path);
    onTestFinished(() => database.close());
    expect(() => database.exec("UPDATE last_check SET checked_at = 1")).toThrow(/readonly/);
  });
});

describe("the schema", () => {
  it("is strict", async () => {
    const database = await openNew();
    const tables = database
      .prepare(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
      )
      .all();
    expect(tables).toContainEqual({ name: "plants", strict: 1 });
    expect(tables).not.toContainEqual({ name: expect.any(String), strict: 0 });
  });

  it("records its version with the time, and is not created again", async () => {
    const path = await createPath();
    const before = openDatabase(provider, path);
    const rows = before.prepare("SELECT version, applied_at FROM migrations").all();
    expect(rows).toEqual([{ version: 7, applied_at: expect.any(Number) }]);
    before.exec("UPDATE migrations SET applied_at = 7");
    before.close();
    const after = openDatabase(provider, path);
    onTestFinished(() => after.close());
    expect(after.prepare("SELECT * FROM migrations").all()).toEqual([
      { version: 7, applied_at: 7 },
    ]);
  });

  it("is created completely or not at all", async () => {
    const path = await createPath();
    const failing = createOtherProvider("INSERT INTO migrations", "INSERT INTO missing");
    expect(() => openDatabase(failing, path)).toThrow("no such table: missing");
    const database = connect(path);
    expect(database.prepare("SELECT name FROM sqlite_schema").all()).toEqual([]);
  });
});
