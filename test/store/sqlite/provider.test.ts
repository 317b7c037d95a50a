/** Where SQLite comes from, and what is said about it. */
import { describe, expect, it } from "vitest";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { bundleProgram, run } from "./programs.ts";

describe("loading SQLite", () => {
  it.each([
    ["Node's own, where it has one", []],
    ["the package, where Node has none", ["no-builtin"]],
  ])("%s: no warning about it, but every other warning", async (_, args) => {
    const program = await bundleProgram("load-sqlite");
    const { stdout, stderr } = await run(process.execPath, [program, ...args]);
    expect(stdout).toBe("loaded\n");
    expect(stderr.match(/Warning: .*/g)).toEqual(["Warning: SQLite is wonderful"]);
  });

  it("names the remedy when neither is there", async () => {
    const program = await bundleProgram("load-sqlite", await createTemporaryDirectory());
    const { stdout } = await run(process.execPath, [program, "no-builtin"]);
    expect(stdout).toBe(
      "StoreError: SQLite is missing: use Node 22.13 or newer, or install plantstore again without --omit=optional\n",
    );
  });
});
