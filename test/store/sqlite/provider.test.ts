/** Which SQLite is loaded. */
import { isBuiltin } from "node:module";
import { describe, expect, it } from "vitest";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { bundleProgram, run } from "./programs.ts";

describe("loading SQLite", () => {
  it.each([
    ["Node's own SQLite if it has one", []],
    ["the optional package otherwise", ["no-builtin"]],
  ])("loads %s", async (_, args) => {
    const program = await bundleProgram("load-sqlite");
    const { stdout } = await run(process.execPath, [program, ...args]);
    expect(stdout).toBe("loaded\n");
  });

  // Newer versions of Node always have one.
  it.runIf(!isBuiltin("node:sqlite"))("fails with advice when neither exists", async () => {
    const program = await bundleProgram("load-sqlite", await createTemporaryDirectory());
    const { stdout } = await run(process.execPath, [program, "no-builtin"]);
    expect(stdout).toMatch(
      /^StoreError: SQLite is missing: Node\.js \S+ has none, .* Use Node\.js 22\.15 or later, or install plantstore again with access to the npm registry and without --omit=optional\n$/,
    );
  });
});
