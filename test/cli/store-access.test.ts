/** `list`, `get` and `export` read the same store, and do not change it. */
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { loadSqlite } from "../../src/store/sqlite/driver.ts";
import { containing, runCli } from "../helpers/run-cli.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const fern = { id: 1n, name: "fern" };
const moss = { id: 1n, name: "moss" };
const commands = [["list"], ["get", "1"], ["export"]];

describe.each(commands.map((argv) => ({ argv, name: argv[0] })))("$name", ({ argv }) => {
  it("reads the store of the data directory by default", async () => {
    const home = await createTemporaryDirectory();
    const directory = join(home, ".local/share/plantstore");
    await mkdir(directory, { recursive: true });
    const store = await openStore(`sqlite:${join(directory, "plants.db")}`);
    await store.create(fern, "reject");
    await store.close();
    expect(await runCli(argv, { home })).toPrint('{"id":1,"name":"fern"}\n');
  });

  it("reads the store of PLANTSTORE_STORE, but prefers that of --store", async () => {
    const env = { PLANTSTORE_STORE: await createSqliteStore([fern]) };
    expect((await runCli(argv, { env })).stdout).toContain("fern");
    const url = await createSqliteStore([moss]);
    expect((await runCli([...argv, "--store", url], { env })).stdout).toContain("moss");
  });

  it("rejects memory: with the reason", async () => {
    const message =
      "error: a memory: store exists only inside its server process: select the server with --url, if the command has it\n";
    expect(await runCli([...argv, "--store", "memory:"])).toExit(2, message);
  });

  it("rejects an invalid store, and names the flag or the variable", async () => {
    const flag = await runCli([...argv, "--store", "plants.db"]);
    expect(flag).toMatchObject({ exitCode: 2, stdout: "" });
    const problem = 'is invalid: unknown store type "plants.db": use sqlite:plants.db\n';
    expect(flag.stderr).toMatch(`error: --store ${problem}`);
    const variable = await runCli(argv, { env: { PLANTSTORE_STORE: "plants.db" } });
    expect(variable.stderr).toMatch(`error: PLANTSTORE_STORE ${problem}`);
  });

  it("reads the file that --store names without sqlite:", async () => {
    const path = (await createSqliteStore([fern])).replace("sqlite:", "");
    expect((await runCli([...argv, "--store", path])).stdout).toContain("fern");
    const missing = await runCli([...argv, "--store", "./missing.db"]);
    expect(missing.stderr).toMatch(/^error: the store \S+\/missing\.db does not exist: check/);
    const unexpanded = await runCli([...argv, "--store", "~/missing.db"]);
    expect(unexpanded.stderr).toMatch(
      /\/~\/missing\.db does not exist: write \$HOME instead of "~"/,
    );
  });

  it.each<[what: string, reason: RegExp, make: (path: string) => Promise<unknown>]>([
    ["a missing file", /does not exist: check the path$/m, () => Promise.resolve()],
    ["an empty file", /is an empty file: choose another path$/m, (path) => writeFile(path, "")],
    ["a text", /is not a SQLite database: /, (path) => writeFile(path, "my plants\n".repeat(99))],
    ["a directory", /is a directory or a device: /, (path) => mkdir(path)],
  ])("rejects %s, and does not change it", async (_what, reason, make) => {
    const directory = await createTemporaryDirectory();
    const path = join(directory, "plants.db");
    await make(path);
    const before = await readdir(directory);
    const result = await runCli([...argv, "--store", `sqlite:${path}`]);
    expect(result).toExit(2, /^error: the store \/[^\n]*\n$/);
    expect(result.stderr).toContain(path);
    expect(result.stderr).toMatch(reason);
    expect(await readdir(directory)).toEqual(before);
  });

  it("creates no directory for a missing store", async () => {
    const home = await createTemporaryDirectory();
    const message = `error: no store at ${home}/.local/share/plantstore/plants.db yet\nStart one, or select one with --store or --url:\n  plantstore serve\n`;
    expect(await runCli(argv, { home })).toExit(2, containing(message));
    expect(await readdir(home)).toEqual([]);
  });

  it("does not change a byte of a store", async () => {
    const url = await createSqliteStore([fern]);
    const path = url.replace("sqlite:", "");
    const before = await readFile(path);
    await runCli([...argv, "--store", url]);
    expect((await readFile(path)).equals(before)).toBe(true);
  });
});

/**
 * Copies a store. No connection has the copy open: the SQLite package closes a connection completely only in the garbage
 * collector.
 *
 * @returns the path of the copy
 */
async function copyStore(url: string): Promise<string> {
  const path = url.replace("sqlite:", "");
  const copy = `${path}.copy`;
  for (const suffix of ["", "-wal"]) {
    const bytes = await readFile(path + suffix).catch(() => undefined);
    if (bytes !== undefined) await writeFile(copy + suffix, bytes);
  }
  return copy;
}

it("a store that another process keeps locked exits with 6", async () => {
  const copy = await copyStore(await createSqliteStore([fern]));
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(copy);
  database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE plants SET tag = 'pot'");
  const result = await runCli(["list", "--store", `sqlite:${copy}`]);
  database.exec("ROLLBACK");
  database.close();
  expect(result).toExit(
    6,
    /^error: the store \S+ is locked by another process: try again[^\n]*\n$/,
  );
});

it("export of a store with a damaged page exits with 3", async () => {
  const plants = Array.from({ length: 1000 }, (_, index) => ({ ...fern, id: BigInt(index) }));
  const path = await copyStore(await createSqliteStore(plants));
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  const checkpoint = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  expect(checkpoint).toMatchObject({ busy: 0 });
  database.close();
  const bytes = await readFile(path);
  // The last pages may belong to an index, which an export does not read.
  await writeFile(path, bytes.fill(0xff, Math.floor(bytes.length / 2)));

  const result = await runCli(["export", "--store", `sqlite:${path}`]);
  expect(result).toExit(3, /^error: the store \S+ is damaged: restore an intact backup[^\n]*\n$/);
});
