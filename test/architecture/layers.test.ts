/** The rules of imports: one that names a file which is gone would allow what nobody meant. */
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../helpers/run.ts";

interface Rule {
  readonly from: Ends;
  readonly to: Ends;
}

/** Patterns of the files at one end of an import. */
interface Ends {
  readonly path?: string | readonly string[];
  readonly pathNot?: string | readonly string[];
}

const load = createRequire(import.meta.url);
const { forbidden } = load("../../.dependency-cruiser.cjs") as {
  readonly forbidden: readonly Rule[];
};
const paths = ["bin", "src", "test"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
    (path) => `${folder}/${path.replaceAll("\\", "/")}`,
  ),
);

it("names only files and folders that exist", () => {
  const patterns = forbidden.flatMap(({ from, to }) =>
    [from.path, from.pathNot, to.path, to.pathNot].flat(),
  );
  const ofFiles = patterns.filter(
    (pattern) => pattern !== undefined && /^\^[(]?(?:src|bin|test)\b/.test(pattern),
  );
  expect(ofFiles.length).toBeGreaterThan(20);
  const unused = ofFiles.filter((pattern = "") => {
    const expression = new RegExp(pattern);
    return !paths.some((path) => expression.test(path));
  });
  expect(unused).toEqual([]);
});
