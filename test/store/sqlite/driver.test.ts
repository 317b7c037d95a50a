/** Which SQLite is loaded. */
import { writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { bundleProgram, run } from "./programs.ts";

describe("loading SQLite", () => {
  it.each([
    ["Node's own SQLite if it has one", []],
    ["the package otherwise", ["no-builtin"]],
  ])("loads %s", async (_, args) => {
    const program = await bundleProgram("load-sqlite");
    const { stdout } = await run(process.execPath, [program, ...args]);
    expect(stdout).toBe("loaded\n");
  });

  // Newer versions of Node always have one.
  it.runIf(!isBuiltin("node:sqlite")).each([
    ["of a project", "package.json", "npm install @photostructure/sqlite@1"],
    ["of everyone", "README.md", "npm install --global @photostructure/sqlite@1"],
  ])("fails in an installation %s with the command to run", async (_, file, command) => {
    const directory = await createTemporaryDirectory();
    await writeFile(join(directory, file), "{}");
    const parent = join(directory, "node_modules/plantstore");
    const program = await bundleProgram("load-sqlite", parent);
    const { stdout } = await run(process.execPath, [program, "no-builtin"]);
    expect(stdout).toBe(
      `StoreError: SQLite is missing, because Node.js ${process.versions.node} has none: install @photostructure/sqlite, or use Node.js 22 or later (${command})\n`,
    );
  });
});
