/** A store whose schema has another version: every command that opens it says so, and changes nothing. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { runCli, startServe } from "../helpers/run-cli.ts";
import { change, createStore } from "../helpers/stored-plants.ts";
import { createVersion5 } from "../store/sqlite/version-5.ts";

describe.each([
  {
    version: 4,
    problem:
      "is from an older plantstore (its schema has version 4, this plantstore has 6): export its plants with that version, then create them in a new store\n",
  },
  {
    version: 7,
    problem:
      "is from a newer plantstore (its schema has version 7, this plantstore has 6): install that version\n",
  },
])("a store of version $version is rejected and not changed by", ({ version, problem }) => {
  it.each([
    "serve --port 0 --store sqlite:STORE",
    "list --store sqlite:STORE",
    "get 1 --store sqlite:STORE",
    "export --store sqlite:STORE",
    "delete 1 --yes --store sqlite:STORE",
    "token issue --name ci --store sqlite:STORE",
    "token list --store sqlite:STORE",
    "token revoke ci --store sqlite:STORE",
    "status --store sqlite:STORE",
    "backup COPY --store sqlite:STORE",
    "verify STORE",
    "restore STORE --force --store sqlite:OTHER",
  ])("%s", async (command) => {
    const path = await createStore();
    await change(path, `DELETE FROM migrations; INSERT INTO migrations VALUES (${version}, 0)`);
    const before = await readFile(path);
    const other = await createStore([]);
    const argv = command
      .replace("STORE", path)
      .replace("COPY", `${path}.copy`)
      .replace("OTHER", other)
      .split(" ");
    const { exitCode, stdout, stderr } = await runCli(argv);
    expect(stdout + stderr).toContain(`${path} ${problem}`);
    // For status, the missing server is the first error.
    expect(exitCode).toBe(argv[0] === "status" ? 6 : 2);
    expect((await readFile(path)).equals(before)).toBe(true);
  });
});

it("the log of a server names the upgrade of its store once, with the release", async () => {
  const path = await createVersion5();
  const args = ["--store", `sqlite:${path}`];
  const upgrade = "was upgraded from version 5 to version 6, which needs plantstore 1.0.0 or later";
  const first = await startServe(args);
  await first.saw(`the store ${path} ${upgrade}`);
  await first.stop();
  const second = await startServe(args);
  expect((await second.stop()).stderr).not.toContain("upgraded");
});
