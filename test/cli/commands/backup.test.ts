/** `plantstore backup`, `verify` and `restore`: what they print, and their exit codes. */
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { allTerminals, containing, runCli } from "../../helpers/run-cli.ts";
import { createSqliteStore } from "../../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

async function createBackup(): Promise<{ url: string; path: string; file: string }> {
  const url = await createSqliteStore([{ id: 1n, name: "fern" }]);
  const path = url.slice("sqlite:".length);
  const file = `${path}.backup`;
  await runCli(["backup", file, "--store", url]);
  return { url, path, file };
}

/** Longer than file systems allow. */
const longName = "a".repeat(300);

it("backup prints the file, the number of plants and the size", async () => {
  const { url, file } = await createBackup();
  const { size } = await stat(file);
  const args = ["backup", file, "--force", "--store", url];
  expect(await runCli(args)).toPrint(`${JSON.stringify({ file, plants: 1, bytes: size })}\n`);
  const message = `backed up 1 plant to ${file} (${(size / 1000).toFixed(1)} kB)\n`;
  const terminal = { terminals: allTerminals, columns: 999 };
  expect(await runCli(args, terminal)).toExit(0, containing(message));
});

it("restore and serve create the directory of the default store for its owner, and no other one", async () => {
  const home = await createTemporaryDirectory();
  const { url, file } = await createBackup();
  expect(await runCli(["restore", file], { home })).toMatchObject({ exitCode: 0 });
  expect((await stat(join(home, ".local/share/plantstore"))).mode & 0o777).toBe(0o700);
  const path = join(home, "disk", "plants.db");
  for (const command of [
    ["restore", file],
    ["serve", "--port", "0"],
  ]) {
    const { stdout, stderr } = await runCli([...command, "--store", `sqlite:${path}`]);
    expect({ command, stdout }).toEqual({ command, stdout: "" });
    expect(stderr).toContain(`the directory ${home}/disk does not exist: create it, or mount its`);
  }
  const problem = `error: the directory ${home}/disk does not exist: create it, or mount its disk\n`;
  expect(await runCli(["backup", path, "--store", url])).toExit(2, problem);
});

it("verify prints what a file contains", async () => {
  const { file } = await createBackup();
  const { stdout } = await runCli(["verify", "--json", file], { terminals: allTerminals });
  const contents = { plants: 1, tokens: 0, version: 7 };
  expect(JSON.parse(stdout)).toEqual({ file, ...contents });
  const { stderr } = await runCli(["verify", file], { terminals: allTerminals, columns: 999 });
  expect(stderr).toContain(`${file} is sound, with 1 plant in store version 7\n`);
});

it("restore prints the path of the old store", async () => {
  const { url, path, file } = await createBackup();
  const args = ["restore", file, "--force", "--store", url];
  const { exitCode, stdout } = await runCli(args);
  const old = expect.stringContaining(`${path}.replaced-`) as string;
  expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 0, store: path, old });
  const { stdout: found } = await runCli(["get", "1", "--store", url]);
  expect(found).toBe('{"id":1,"name":"fern"}\n');
});

it.each(["verify", "restore"])("%s reports that an empty file is not a backup", async (command) => {
  const file = join(await createTemporaryDirectory(), "empty");
  await writeFile(file, "");
  const problem = `error: the file ${file} is an empty file: choose another path\n`;
  expect(await runCli([command, file])).toExit(2, problem);
});

it("verify does not call another file a store", async () => {
  const file = join(await createTemporaryDirectory(), "s.csv");
  await writeFile(file, "id,name\n1,fern\n".repeat(20));
  expect((await runCli(["verify", file])).stderr).toBe(
    `error: the file ${file} is not a SQLite database: name another file, or restore a backup if it was a plant store\n`,
  );
});

it.each([
  ["/proc/copy", "choose another place, or change the"],
  [longName, "choose another place"],
])("backup exits with 2 if it cannot write %s", async (file, advice) => {
  const url = await createSqliteStore([{ id: 1n, name: "fern" }]);
  const result = await runCli(["backup", file, "--store", url]);
  expect(result).toExit(2, containing(`${file} cannot be written: ${advice}`));
});

it.each([
  [["backup"], "missing required argument 'file'"],
  [["backup", "-"], '"-" is not possible here: name a file'],
  [["verify", ""], '"" is not possible here: name a file'],
  [
    ["verify", longName],
    `${longName} cannot be opened: check its permissions and those of its directory, or choose another path (name too long`,
  ],
  [
    ["restore", longName],
    `${longName} cannot be opened: check its permissions and those of its directory, or choose another path (name too long`,
  ],
  [["backup", "x", "--store", "memory:"], "plantstore cannot back up a memory: store"],
  [["backup", "x", "--store", "postgres://u:secret@h/d"], "use pg_dump"],
  [["verify", "postgres://u:secret@h/d"], "restore the dump"],
  [["verify", "missing"], "/missing does not exist: check the path"],
  [["verify", "~/plants.backup"], '/~/plants.backup does not exist: write $HOME instead of "~"'],
  [["verify", "/"], "error: the file / is a directory or a device: name a file"],
  [["restore", "~/plants.backup"], "error: the file /"],
  [["restore", "x", "--store", "memory:"], "plantstore cannot restore a memory: store"],
  [["restore", "x", "--store", "postgres://u:secret@h/d"], "use pg_restore"],
])("%j is rejected: %s", async (args, problem) => {
  const result = await runCli(args);
  expect(result).toExit(2, containing(problem));
  expect(result.stderr).not.toContain("secret");
});
