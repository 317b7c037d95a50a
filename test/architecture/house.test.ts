/** The table of folders in CONTRIBUTING. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../helpers/run.ts";

const src = join(root, "src");
const contributing = readFileSync(join(root, ".github/CONTRIBUTING.md"), "utf8");
const rows = [...contributing.matchAll(/^\| `(\w+)` +\| ([\d,]+)/gm)].map(
  ([, folder = "", lines = ""]) => ({
    folder,
    lines: Number(lines.replace(",", "")),
  }),
);

function countLines(folder: string): number {
  const paths = readdirSync(join(src, folder), { recursive: true, encoding: "utf8" });
  const texts = paths
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(src, folder, path), "utf8"));
  return texts.join("").split("\n").length - 1;
}

it("names each folder with code", () => {
  const folders = readdirSync(src, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && countLines(entry.name) > 0)
    .map(({ name }) => name);
  expect(rows.map(({ folder }) => folder).toSorted()).toEqual(folders.toSorted());
});

it.each(rows)("has about the lines of $folder", ({ folder, lines }) => {
  expect(lines / countLines(folder)).toBeGreaterThan(0.9);
  expect(lines / countLines(folder)).toBeLessThan(1.1);
});
