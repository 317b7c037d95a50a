/** Backups: copies of a store in use, and checks of files. */
import { chmod, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { backupSqliteFile, verifySqliteFile } from "../../../src/store/sqlite/backup.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import {
  change,
  createPages,
  createStore,
  listFiles,
  readPlants,
  toWork,
} from "../../helpers/stored-plants.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { expectRejection } from "../expect-rejection.ts";
import { openServedStore } from "./stores.ts";

describe("a backup", () => {
  it("has every plant and token of a store in use, and is one private file", async () => {
    const path = await createStore();
    const store = await openServedStore(path);
    await store.create({ id: 2n, name: "in the log" }, "reject");
    const target = join(path, "../backup");
    let readSize = (): number => -1;
    const backup = await backupSqliteFile(path, target, {
      ...toWork(),
      onCopy: (read) => {
        readSize = read;
        expect(read()).toBe(0);
      },
    });

    // It has its name now.
    expect(readSize()).toBe(0);
    expect(backup).toEqual({ path: target, plants: 3, bytes: (await stat(target)).size });
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    expect(await verifySqliteFile(target)).toMatchObject({ plants: 3, tokens: 1 });
    expect(await readPlants(target)).toEqual(await readPlants(path));
    expect(await listFiles(path)).toEqual([
      "backup",
      "plants.db",
      "plants.db-shm",
      "plants.db-wal",
    ]);
    expect(await store.create({ id: 3n, name: "after it" }, "reject")).toMatchObject({
      result: "created",
    });
  });

  it("replaces an existing file only when forced", async () => {
    const path = await createStore();
    const target = join(path, "../backup");
    await writeFile(target, "an older one");
    await expectRejection(
      backupSqliteFile(path, target, toWork()),
      "unusable",
      "exists: choose another name, or replace it with --force",
    );
    expect(await readFile(target, "utf8")).toBe("an older one");
    await backupSqliteFile(path, target, toWork(true));
    expect(await verifySqliteFile(target)).toMatchObject({ plants: 2 });
  });

  it.each([
    ["plants.db", "is the store itself"],
    ["~/backup", '/~ does not exist: write $HOME instead of "~"'],
    [".", "is not a regular file"],
    ["link", "is not a regular file"],
    ["other", "would get the log of another store"],
    ["plants.db-wal", "would be read as a part of "],
    ["plants.db-journal", "would be read as a part of "],
  ])("is not written to %s, which %s", async (name, problem) => {
    const path = await createStore();
    const directory = join(path, "..");
    await symlink(path, join(directory, "link"));
    await writeFile(join(directory, "other-wal"), "the log of another store");
    const before = await listFiles(path);
    const backup = backupSqliteFile(path, join(directory, name), toWork(true));
    await expectRejection(backup, "unusable", problem);
    expect(await listFiles(path)).toEqual(before);
  });

  it("that is stopped leaves no file", async () => {
    const path = await createStore();
    const stop = new AbortController();
    const backup = backupSqliteFile(path, join(path, "../backup"), {
      ...toWork(),
      signal: stop.signal,
      onCopy: () => stop.abort(),
    });
    await expect(backup).rejects.toThrow("aborted");
    expect(await listFiles(path)).toEqual(["plants.db"]);
  });
});

describe("a check", () => {
  it("changes nothing, and works on a read-only file", async () => {
    const path = await createStore();
    await backupSqliteFile(path, `${path}.backup`, toWork());
    await chmod(`${path}.backup`, 0o400);
    const bytes = await readFile(`${path}.backup`);
    await verifySqliteFile(`${path}.backup`);
    expect((await readFile(`${path}.backup`)).equals(bytes)).toBe(true);
    expect(await listFiles(path)).toEqual(["plants.db", "plants.db.backup"]);
  });

  it.each([
    ["name", "UPDATE plants SET name = CAST(x'ff' AS TEXT) WHERE id = 1", "the name of plant 1"],
    ["tag", "UPDATE plants SET tag = CAST(x'eda080' AS TEXT) WHERE id = 1", "the tag of plant 1"],
  ])("finds a %s that is not UTF-8", async (_member, sql, problem) => {
    const path = await createStore();
    await change(path, sql);
    await expectRejection(verifySqliteFile(path), "damaged", `(${problem} is not UTF-8)`);
  });

  it.each([
    ["plants", "CREATE TRIGGER t AFTER INSERT ON plants BEGIN DELETE FROM plants; END", ""],
    ["TOKENS", "CREATE TRIGGER t BEFORE UPDATE ON TOKENS BEGIN DELETE FROM plants; END", ""],
    [
      "notes",
      `CREATE TABLE notes (plant REFERENCES Plants (id) ON DELETE CASCADE);
      CREATE TRIGGER t AFTER DELETE ON notes BEGIN DELETE FROM plants; END`,
      " through a foreign key",
    ],
  ])("finds a trigger on %s, which a create or a delete can run%s", async (table, sql) => {
    const path = await createStore();
    await change(path, sql);
    const problem = `has triggers of another program, which can change plants and tokens by themselves (t on ${table}): remove them with DROP TRIGGER, or use another backup`;
    await expectRejection(verifySqliteFile(path), "damaged", `the file ${path} ${problem}`);
    const warnings: string[] = [];
    const engine = await openSqliteEngine(path, { onWarning: (text) => warnings.push(text) });
    await engine.close();
    expect(warnings).toEqual([`the store ${path} ${problem}`]);
  });

  it.each([
    ["a view", "CREATE VIEW plants AS SELECT 1 AS id, 'fern' AS name, NULL AS tag"],
    ["a virtual table", "CREATE VIRTUAL TABLE plants USING fts5 (name, tag)"],
    ["missing", ""],
  ])("finds that the table of plants is %s", async (_what, sql) => {
    const path = await createStore();
    await change(path, `ALTER TABLE plants RENAME TO old; ${sql}`);
    const problem = `the file ${path} has no table "plants": restore an intact backup`;
    await expectRejection(verifySqliteFile(path), "damaged", problem);
  });

  it("accepts tables, indexes, views and triggers of another program beside those of the store", async () => {
    const path = await createStore();
    await change(
      path,
      `CREATE TABLE notes (plant INTEGER, text TEXT);
      CREATE INDEX plants_by_name ON plants (name);
      CREATE VIEW pots AS SELECT * FROM plants WHERE tag = 'pot';
      CREATE TRIGGER n AFTER INSERT ON notes BEGIN DELETE FROM notes; END;
      CREATE TRIGGER p INSTEAD OF DELETE ON pots BEGIN DELETE FROM notes; END`,
    );
    expect(await verifySqliteFile(path)).toMatchObject({ plants: 2 });
  });

  it("finds a page that was overwritten", async () => {
    const path = await createStore(createPages());
    const bytes = await readFile(path);
    bytes.fill(0xaa, bytes.length - 8192, bytes.length - 4096);
    await writeFile(path, bytes);
    await expectRejection(verifySqliteFile(path), "damaged", "is damaged");
  });

  it("reports why a file cannot be opened, although its thread ends early", async () => {
    const newer = await createStore();
    await change(newer, "INSERT INTO migrations VALUES (1000, 0)");
    const checks = Array.from({ length: 20 }, () =>
      expectRejection(verifySqliteFile(newer), "unusable", "is of another plantstore"),
    );
    await Promise.all(checks);
  });

  it("rejects the database of another program, and leaves it as it is", async () => {
    const directory = await createTemporaryDirectory();
    const foreign = join(directory, "foreign");
    await change(foreign, "CREATE TABLE plants (id INTEGER PRIMARY KEY)");
    await expectRejection(
      verifySqliteFile(foreign),
      "unusable",
      "is the SQLite database of another program",
    );
    expect(await readdir(directory)).toEqual(["foreign"]);
  });
});
