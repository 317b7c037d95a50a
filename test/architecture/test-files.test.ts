/** The patterns that divide the test files into projects. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import config from "../vitest.config.ts";

const root = new URL("../..", import.meta.url);

/** Lists the patterns that a pattern with `{a,b}` or `!(a|b)` consists of. */
function listAlternatives(pattern: string): readonly string[] {
  const [group, alternatives] = /!?[{(]([^{}()]+)[)}]/.exec(pattern) ?? [];
  if (group === undefined || alternatives === undefined) return [pattern];
  return alternatives
    .split(/[,|]/)
    .flatMap((alternative) => listAlternatives(pattern.replace(group, alternative)));
}

it("each name in a pattern is that of a test file", () => {
  const { projects = [] } = config.test ?? {};
  const patterns = projects.flatMap((project) =>
    typeof project === "object" && "test" in project ? (project.test.include ?? []) : [],
  );
  const names = patterns.flatMap(listAlternatives).filter((pattern) => !pattern.includes("*"));
  expect(names).toContain("test/e2e/crash.test.ts");
  expect(names.filter((name) => !existsSync(fileURLToPath(new URL(name, root))))).toEqual([]);
});
