/** The README's tables say what the code's tables say. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { serveSettings } from "../../src/cli/settings/serve-settings.ts";
import { clientSettings } from "../../src/cli/settings/client-settings.ts";
import { manySettings } from "../../src/cli/settings/create-settings.ts";
import { errorTable } from "../../src/core/errors.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");

/** The rows of all tables, cell by cell, without the code marks. */
const rows = readme
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );

it("names every error number, with when it is given, in order", () => {
  const documented = rows.filter(([number = ""]) => /^\d{5}$/.test(number));
  const table = Object.values(errorTable).map(({ error, when }) => [String(error), when]);
  expect(documented).toEqual(table);
});

it.each(Object.values({ ...serveSettings, ...clientSettings, ...manySettings }))(
  "names $flags with its variable and its default",
  ({ flags, variable, fallback, ...setting }) => {
    const [flag] = flags.split(" ");
    const shown = "shownFallback" in setting ? setting.shownFallback : fallback;
    const documented = rows.filter(([name]) => name === flag).map((row) => row.slice(1, 3));
    expect(documented).toContainEqual([variable, shown]);
  },
);

it.each(Object.values(exitCodes))("names exit code $code", ({ code, meaning }) => {
  const codes = rows.filter(([cell = ""]) => cell.split(", ").includes(String(code)));
  expect(codes).toHaveLength(1);
  if (code < 128) expect(codes[0]?.[1]).toBe(meaning);
});

it("names only variables that there are, and so does the recipe of the image", () => {
  const recipe = readFileSync(join(root, ".containerfile"), "utf8");
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(root, "src", path), "utf8"));
  const variable = /PLANTSTORE_[A-Z_]+/g;
  const known = new Set(sources.join("\n").match(variable));
  const named = new Set((readme + recipe).match(variable));
  expect(named).toContain("PLANTSTORE_DATA_DIR");
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
});

it("begins with the two commands", () => {
  const commands = [...readme.matchAll(/```sh\n([^`]+)\n```/g)].map(([, command]) => command);
  expect(commands.slice(0, 2)).toEqual(["npm ci && npx plantstore serve", "npm ci && npm test"]);
});

it("leads only to headings that there are", () => {
  const headings = [...readme.matchAll(/^#{2,3} (.*)$/gm)].map(([, heading = ""]) => heading);
  // As GitHub names them.
  const anchors = headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
  const links = [...readme.matchAll(/\]\(#([^)]*)\)/g)].map(([, anchor]) => anchor);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !anchors.includes(link ?? ""))).toEqual([]);
});
