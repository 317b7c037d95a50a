/** Which files become a store, and which are rejected without a change. */
import { link, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { prepareDatabaseFile } from "../../../src/store/sqlite/store-file.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { openSqliteReader } from "../../../src/store/sqlite/reader.ts";
import { run as runCommand } from "../../helpers/run.ts";
import { canMountSmallDisks } from "../../helpers/small-disk.ts";
import { changeStore } from "../../helpers/sqlite-store.ts";
import { change } from "../../helpers/stored-plants.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { toEntry } from "../entries.ts";
import { expectRejection } from "../expect-rejection.ts";
import { bundleProgram, run } from "./programs.ts";
import { createPath, openEngine, provider } from "./stores.ts";

/** Reads the contents of a directory, by name. */
async function readAll(directory: string): Promise<Map<string, Buffer | "directory">> {
  const entries = await readdir(directory, { withFileTypes: true });
  const contents = entries.map(async (entry): Promise<[string, Buffer | "directory"]> => {
    const isFile = entry.isFile();
    return [entry.name, isFile ? await readFile(join(directory, entry.name)) : "directory"];
  });
  return new Map(await Promise.all(contents));
}

/** Reads the permission bits of a file. */
async function readMode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

async function openAndClose(path: string): Promise<void> {
  await (await openSqliteEngine(path)).close();
}

/** Writes the files of a database as they are after a crash at the end of some SQL. */
async function writeInterrupted(path: string, sql: string): Promise<void> {
  const original = join(await createTemporaryDirectory(), "other.db");
  const database = new provider.DatabaseSync(original);
  database.exec(sql);
  for (const suffix of ["", "-wal", "-journal"]) {
    const bytes = await readFile(original + suffix).catch(() => undefined);
    if (bytes !== undefined) await writeFile(path + suffix, bytes);
  }
  database.close();
}

describe("a path without a file", () => {
  it("becomes a store that only its owner can read, like its log", async () => {
    const path = await createPath();
    await openEngine(path);
    for (const suffix of ["", "-wal", "-shm"]) expect(await readMode(path + suffix)).toBe(0o600);
  });

  it.each([":memory:", "file:plants.db?mode=memory", "a%20b?c#d.db", "mönstera 🌱.db", "'.db"])(
    "names the file exactly, without a special meaning for SQLite: %s",
    async (name) => {
      const directory = await createTemporaryDirectory();
      await openAndClose(relative(process.cwd(), join(directory, name)));
      const names = await readdir(directory);
      expect(names).toContain(name);
      expect(names.filter((other) => !other.startsWith(name))).toEqual([]);
    },
  );

  it("may be an empty file", async () => {
    const path = await createPath();
    await writeFile(path, "");
    await expect(openAndClose(path)).resolves.toBeUndefined();
  });

  it("is not called missing by a reader if it is an empty file", async () => {
    const path = await createPath();
    await writeFile(path, "");
    expect(() => prepareDatabaseFile(path, true)).toThrow(`the store ${path} is an empty file: `);
    expect(() => prepareDatabaseFile(`${path}2`, true)).toThrow(`${path}2 does not exist: `);
    expect((await stat(path)).size).toBe(0);
  });
});

describe("a path with symbolic links", () => {
  it("is rejected while the log of the missing real file exists", async () => {
    const directory = await createTemporaryDirectory();
    const target = join(directory, "target.db");
    await symlink("target.db", join(directory, "link.db"));
    await symlink(directory, join(directory, "folder"));
    await writeFile(`${target}-wal`, "commits");
    for (const path of [join(directory, "link.db"), join(directory, "folder", "link.db")]) {
      await expectRejection(
        openSqliteEngine(path),
        "unusable",
        `the store ${path} is missing, but its log`,
      );
    }
    expect(await readdir(directory)).toEqual(["folder", "link.db", "target.db-wal"]);
  });

  it("is one store with the real path", async () => {
    const directory = await createTemporaryDirectory();
    const target = join(directory, "target.db");
    await symlink(target, join(directory, "link.db"));
    const engine = await openEngine(join(directory, "link.db"));
    const other = await openEngine(target);
    const fern = toEntry(1n, "fern");
    expect(await engine.commit([fern])).toEqual(["created"]);
    expect(await other.commit([fern])).toEqual(["unchanged"]);
  });

  it("is rejected if the links form a loop", async () => {
    const path = join(await createTemporaryDirectory(), "loop.db");
    await symlink(path, path);
    await expect(openSqliteEngine(path)).rejects.toMatchObject({ reason: "unusable" });
  });
});

describe.runIf(await canMountSmallDisks())("a file that is mounted by itself", () => {
  it("is rejected, also with a blank in its path, and a mounted directory is not", async () => {
    const mount = async (source: string, target: string): Promise<void> => {
      await runCommand("mount", ["--bind", source, target]);
      onTestFinished(async () => void (await runCommand("umount", ["--lazy", target])));
    };
    const host = await createPath();
    await openAndClose(host);
    const directory = join(await createTemporaryDirectory(), "a b");
    await mkdir(directory);
    const file = join(directory, "plants.db");
    await writeFile(file, "");
    await mount(host, file);
    const problem = `the store ${file} is mounted as a file, so that its log beside it would be outside of the mount: mount its directory at ${directory} instead`;
    await expectRejection(openSqliteEngine(file), "unusable", problem);
    await expectRejection(openSqliteReader(file), "unusable", problem);

    const mounted = await createTemporaryDirectory();
    await mount(dirname(host), mounted);
    await openAndClose(join(mounted, basename(host)));
  });
});

describe("a file with a second hard link", () => {
  it.each([
    ["to write", openSqliteEngine],
    ["to read", openSqliteReader],
  ])("is rejected under both names when it is opened %s", async (_, open) => {
    const directory = await createTemporaryDirectory();
    const paths = [join(directory, "plants.db"), join(directory, "other.db")] as const;
    await openAndClose(paths[0]);
    await link(...paths);
    for (const path of paths) {
      await expect(open(path)).rejects.toMatchObject({
        name: "StoreError",
        reason: "unusable",
        message: `the store ${path} has more than one hard link, and each name would become a store of its own: remove the other names, or copy the file`,
      });
    }
  });
});

describe("a file that was recognized", () => {
  it("is opened again only by SQLite, because closing it would drop SQLite's locks", async () => {
    const path = await createPath();
    prepareDatabaseFile(path, false);
    await writeFile(path, "no longer a database");
    expect(() => prepareDatabaseFile(path, false)).not.toThrow();
  });

  it("is checked again after it was replaced", async () => {
    const path = await createPath();
    prepareDatabaseFile(path, false);
    await writeFile(`${path}.new`, "not a database");
    await rename(`${path}.new`, path);
    expect(() => prepareDatabaseFile(path, false)).toThrow("is not a SQLite database");
  });
});

describe("rejects a file without changing it or creating others:", () => {
  const notDatabase =
    /^the store \/\S* is not a SQLite database: name another file, or restore a backup if it was a plant store/;
  const foreign = /^the store \/\S* is the SQLite database of another program: name another file/;

  it.each<[string, RegExp, (path: string) => Promise<void>]>([
    ["a text", notDatabase, (path) => writeFile(path, "These are my plants.\n".repeat(50))],
    ["a single byte", notDatabase, (path) => writeFile(path, "S")],
    ["zeros", notDatabase, (path) => writeFile(path, Buffer.alloc(8192))],
    [
      "a database without an application id",
      foreign,
      (path) => change(path, "CREATE TABLE plants (id)"),
    ],
    ["a database without tables", foreign, (path) => change(path, "VACUUM")],
    [
      "a database with another application id",
      foreign,
      (path) => change(path, "PRAGMA application_id = 1; VACUUM"),
    ],
    [
      "a database that crashed with a write-ahead log",
      foreign,
      (path) => writeInterrupted(path, "PRAGMA journal_mode = WAL; CREATE TABLE plants (id)"),
    ],
    [
      "a database that crashed in the middle of a transaction",
      foreign,
      (path) =>
        writeInterrupted(
          path,
          `PRAGMA cache_size = 1; CREATE TABLE plants (id, name); BEGIN;
          INSERT INTO plants VALUES (1, zeroblob(100000))`,
        ),
    ],
  ])("%s", async (_, message, write) => {
    const path = await createPath();
    const directory = dirname(path);
    await write(path);
    const before = await readAll(directory);

    await expectRejection(openSqliteEngine(path), "unusable", message);
    expect(await readAll(directory)).toEqual(before);
  });
});

it("rejects a damaged store without changing it or creating files", async () => {
  const path = await createPath();
  const directory = dirname(path);
  await changeStore(`sqlite:${path}`, { plants: [{ id: 1n, name: "fern" }] });
  await writeFile(path, (await readFile(path)).fill(0xff, 100));
  const before = await readAll(directory);

  // In another process: the optional SQLite package closes a connection only when its process ends.
  const program = await bundleProgram("create-plant");
  const { stdout } = await run(process.execPath, [program, "2", path]);
  const problem = "is damaged: restore an intact backup, or choose another path";
  expect(stdout).toContain(`StoreError: the store ${path} ${problem}`);
  expect(await readAll(directory)).toEqual(before);
  expect([...before.keys()]).toEqual(["plants.db"]);
});

describe("a path where no file can be created", () => {
  const isDirectory = /^the store \/\S* is a directory or a device: name a file$/;
  const belowFile = /^the store \/\S* is below something that is not a directory: choose another/;
  const noDirectory =
    /^the directory \/\S*\/missing\/a does not exist: create it, or mount its disk$/;
  const unexpanded = /^the directory \/\S*\/~ does not exist: write \$HOME instead of "~", which/;
  const notOpened =
    /^the store \/.* cannot be opened: check its permissions and those of its directory/;

  it.each([
    ["a directory", isDirectory, "directory"],
    ["a device", isDirectory, "/dev/null"],
    ["a name right below a file", belowFile, "file/plants.db"],
    ["a name further below a file", belowFile, "file/a/b/plants.db"],
    ["a name that is too long", notOpened, "x".repeat(300)],
    ["a file in a missing directory", noDirectory, "missing/a/plants.db"],
    ["a path that no shell has expanded", unexpanded, "~/plants.db"],
    ["a file that cannot be created", notOpened, "/proc/plants.db"],
    ["a name with a NUL", notOpened, "a\0b"],
  ])("is rejected with one line: %s", async (_, message, name) => {
    const directory = await createTemporaryDirectory();
    await mkdir(join(directory, "directory"));
    await writeFile(join(directory, "file"), "");
    const path = name.startsWith("/") ? name : join(directory, name);

    await expectRejection(openSqliteEngine(path), "unusable", message);
    expect(await readdir(directory)).toEqual(["directory", "file"]);
  });
});
