/** A next version upgrades stores of this one, with a further step of the schema, while servers of this one have them open. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Schema } from "../../../src/store/sql-tables.ts";
import {
  backupSqliteFile,
  restoreSqliteFile,
  verifySqliteFile,
} from "../../../src/store/sqlite/backup.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { openSqliteReader } from "../../../src/store/sqlite/reader.ts";
import { change, createStore, fern, readPlants, toWork } from "../../helpers/stored-plants.ts";
import { nextSchema } from "./next-schema.ts";
import { toEntries, toEntry } from "../entries.ts";
import { expectRejection } from "../expect-rejection.ts";
import { bundleProgram, run } from "./programs.ts";
import { openEngine, provider } from "./stores.ts";
import { createVersion5, plants, token } from "./version-5.ts";

/** Upgrades a store and moves its log into the file: until its statements are collected, `close` may leave the log behind. */
function upgrade(path: string, schema: Schema = nextSchema): void {
  const database = openDatabase(provider, path, { schema });
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

function readRows(path: string, sql: string): readonly unknown[] {
  const database = new provider.DatabaseSync(path);
  // The thread of an engine that was rejected may still close its connection.
  database.exec("PRAGMA busy_timeout = 10000");
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

describe("a further step of the schema", () => {
  it("is a part of a new store from the beginning", async () => {
    const path = await createStore([]);
    const { DatabaseSync } = provider;
    const fresh = `${path}.new`;
    new DatabaseSync(fresh).close();
    upgrade(fresh);
    upgrade(path);
    const parts = "SELECT type, name FROM sqlite_schema ORDER BY type, name";
    expect(readRows(fresh, parts)).toEqual(readRows(path, parts));
    expect(readRows(fresh, "SELECT version FROM migrations")).toHaveLength(2);
  });

  it("makes this version reject the store, and leave it as it is", async () => {
    const path = await createStore();
    upgrade(path);
    const before = await readFile(path);
    const other = await createStore();
    const problem =
      "is from a newer plantstore (its schema has version 7, this plantstore has 6): install that version";
    for (const call of [
      () => openSqliteEngine(path),
      () => openSqliteReader(path),
      () => verifySqliteFile(path),
      () => backupSqliteFile(path, `${path}.backup`, toWork()),
      () => restoreSqliteFile(path, other, toWork(true)),
    ]) {
      await expectRejection(call(), "unusable", problem);
    }
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  it("leaves servers of this version working, with columns that they do not know", async () => {
    const path = await createStore([fern]);
    const engine = await openEngine(path);
    upgrade(path);
    const moss = { id: 2n, name: "moss" };
    const rose = { id: 1n, name: "rose" };
    const requests = [...toEntries([fern, moss, rose]), ...toEntries([rose], "replace")];
    expect(await engine.commit(requests)).toEqual(["unchanged", "created", "conflict", "replaced"]);
    await engine.addToken({ digest: "cd", prefix: "pst_cd", name: "second", issuedAtMs: 2 });
    expect(await engine.list({ limit: 9 })).toEqual([rose, moss]);
  });
});

describe("a store of version 5", () => {
  const listParts = "SELECT type, name FROM sqlite_schema ORDER BY type, name";

  it("becomes one of version 6, with its plants and tokens and without its feed", async () => {
    const path = await createVersion5();
    const warnings: string[] = [];
    const onWarning = (warning: string): void => void warnings.push(warning);
    const engine = await openSqliteEngine(path, { onWarning });
    expect(warnings).toEqual([
      `the store ${path} was upgraded from version 5 to version 6, which needs plantstore 1.0.0 or later`,
    ]);
    expect(await engine.list({ limit: 9 })).toStrictEqual(plants);
    expect(await engine.listTokens()).toStrictEqual([token]);
    const entries = [...toEntries(plants), toEntry(7n, "moss"), toEntry(1n, "rose", "replace")];
    const results = await engine.commit(entries);
    expect(results.join(" ")).toBe("unchanged unchanged unchanged created replaced");
    expect(await engine.commit([{ kind: "delete", id: 7n }])).toEqual(["deleted"]);
    await engine.close();
    expect(readRows(path, listParts)).toEqual(readRows(await createStore([]), listParts));
    expect(readRows(path, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  });

  it("is upgraded once although several processes start, also by further steps", async () => {
    const path = await createVersion5();
    const program = await bundleProgram("open-next");
    const starts = Array.from({ length: 4 }, () => run(process.execPath, [program, path]));
    for (const { stdout } of await Promise.all(starts)) expect(stdout).toBe("opened\n");
    const versions = readRows(path, "SELECT version FROM migrations");
    expect(versions).toEqual([4, 5, 6, 7].map((version) => ({ version })));
    expect(readRows(path, "SELECT DISTINCT light FROM plants")).toEqual([{ light: "sun" }]);
    await change(path, "DELETE FROM migrations WHERE version = 7");
    expect(await readPlants(path)).toEqual({ plants, tokens: [token] });
  });

  it("is upgraded completely or not at all", async () => {
    const path = await createVersion5();
    const before = readRows(path, "SELECT sql FROM sqlite_schema");
    const [first, next] = nextSchema;
    const failing = { ...next, sql: `${next?.sql}; INSERT INTO missing VALUES (1)` };
    expect(() => upgrade(path, [first, failing] as Schema)).toThrow("no such table: missing");
    expect(readRows(path, "SELECT sql FROM sqlite_schema")).toEqual(before);
    expect(readRows(path, "SELECT id FROM deleted_plants")).toEqual([{ id: 7 }]);
  });

  it("is copied, verified and restored in its own version, and not read", async () => {
    const path = await createVersion5();
    const backup = `${path}.backup`;
    await backupSqliteFile(path, backup, toWork());
    const contents = { plants: plants.length, tokens: 1, version: 5 };
    expect(await verifySqliteFile(path)).toEqual(contents);
    const other = await createStore();
    await restoreSqliteFile(backup, other, toWork(true));
    expect(await verifySqliteFile(other)).toEqual(contents);
    const before = await readFile(other);
    const problem = `the store ${other} is from an older plantstore: start "plantstore serve" on it once to upgrade it`;
    await expectRejection(openSqliteReader(other), "unusable", problem);
    expect((await readFile(other)).equals(before)).toBe(true);
    const engine = await openEngine(other);
    expect(await engine.list({ limit: 9 })).toStrictEqual(plants);
  });
});
