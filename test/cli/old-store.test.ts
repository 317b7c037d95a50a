/** A store of an older plantstore: commands that write upgrade it, and commands that only read name the upgrade. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { createOldStore } from "../helpers/old-store.ts";
import { runCli, startCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const readers = ["list", "get 1", "export", "token list", "doctor"];

it.each(readers)(
  "%s does not change an old store, and names the command that upgrades it",
  async (command) => {
    const path = await createOldStore(1);
    const before = await readFile(path);
    const argv = [...command.split(" "), "--store", `sqlite:${path}`];
    const { exitCode, stdout, stderr } = await runCli(argv);
    expect(exitCode).toBe(2);
    expect(stdout + stderr).toContain(
      `the store ${path} is from an older plantstore: start "plantstore serve" on it once to upgrade it\n`,
    );
    expect((await readFile(path)).equals(before)).toBe(true);
  },
);

const writers = [
  { command: "token issue --name ci", tokens: ["active", "expired"] },
  { command: "token revoke first", tokens: ["revoked"] },
  { command: "serve --port 0", tokens: ["expired"] },
];

it.each(writers)("$command upgrades an old store, which can be read afterwards", async (row) => {
  const store = ["--store", `sqlite:${await createOldStore(1)}`];
  const run = startCli([...row.command.split(" "), ...store], {
    home: await createTemporaryDirectory(),
  });
  if (row.command.startsWith("serve")) {
    await run.saw("http://");
    run.signal("SIGTERM");
  }
  expect(await run.finished).toMatchObject({ exitCode: 0 });
  const { stdout } = await runCli(["list", ...store]);
  expect(stdout).toBe('{"id":1,"name":"fern","tag":"pot"}\n');
  const tokens = await runCli(["token", "list", ...store]);
  const states = tokens.stdout.match(/(?<="state":")\w+/g) ?? [];
  expect(states.toSorted()).toEqual(row.tokens);
});
