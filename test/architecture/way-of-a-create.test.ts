/** The lists in CONTRIBUTING that show the way of a create. */
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { listLoadedSources } from "../../.build/budget.ts";
import { root } from "../helpers/run.ts";

const read = (path: string): string => readFileSync(posix.join(root, path), "utf8");
const section = read(".github/CONTRIBUTING.md")
  .split(/^## /m)
  .find((text) => text.startsWith("The way of a create\n"));

interface Step {
  readonly path: string;
  readonly sentence: string;
}

function readSteps(heading: string): readonly Step[] {
  const list = section?.split(/^### /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  return [...list.matchAll(/^\d+\. `(src\/[^`]+)` (.+)$/gm)].map(
    ([, path = "", sentence = ""]) => ({
      path,
      sentence,
    }),
  );
}

/** Lists the files of src that a file imports, also on demand. */
function listImports(path: string): readonly string[] {
  return [...read(path).matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(([, specifier = ""]) =>
    posix.join(posix.dirname(path), specifier),
  );
}

const fromSocket = readSteps("From the socket to the disk");
const fromCommandLine = readSteps("From the command line to the output");

describe.each([
  ["from the socket to the disk", fromSocket, 22],
  ["from the command line to the output", fromCommandLine, 20],
])("%s", (_name, steps, limit) => {
  it(`has at most ${limit} files, which exist`, () => {
    expect(steps.length).toBeGreaterThan(10);
    expect(steps.length).toBeLessThanOrEqual(limit);
    expect(steps.filter(({ path }) => !existsSync(posix.join(root, path)))).toEqual([]);
  });

  it("names a file after one that imports it, or that calls the port which it implements", () => {
    const unreached = steps.filter(({ path, sentence }, index) => {
      const [, port] = /^implements the port `(\w+)`/.exec(sentence) ?? [];
      const earlier = steps.slice(0, index);
      const isImported = earlier.some((step) => listImports(step.path).includes(path));
      const isCalled =
        port !== undefined &&
        listImports(path).includes("src/core/store.ts") &&
        earlier.some((step) => read(step.path).includes(port));
      return index > 0 && !isImported && !isCalled;
    });
    expect(unreached).toEqual([]);
  });
});

it("a create of the command line loads the files of its list, and those with a reason", async () => {
  const [, others = ""] = section?.split("A create loads these files too") ?? [];
  const withReason = [...others.matchAll(/`(src\/[^`]+)`/g)].map(([, path = ""]) => path);
  const listed = [...fromCommandLine.map(({ path }) => path), ...withReason];
  const [loaded = []] = await listLoadedSources([["create", "--id", "1", "--name", "fern"]]);
  expect(loaded.toSorted()).toEqual(listed.toSorted());
});
