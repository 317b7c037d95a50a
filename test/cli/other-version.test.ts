/** A store whose schema has another version: every command that opens it says so, and changes nothing. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";
import { change, createStore } from "../helpers/stored-plants.ts";

describe.each([6, 8])("a store of version %i is rejected and not changed by", (version) => {
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
    const env = { PLANTSTORE_URL: "http://127.0.0.1:9" };
    const { exitCode, stdout, stderr } = await runCli(argv, { env });
    expect(stdout + stderr).toContain(
      `${path} is of another plantstore (its schema has version ${version}, this plantstore has 7): export its plants with that one, then create them in a new store\n`,
    );
    // For status, the missing server is the first error.
    expect(exitCode).toBe(argv[0] === "status" ? 6 : 2);
    expect((await readFile(path)).equals(before)).toBe(true);
  });
});
