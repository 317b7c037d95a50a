/** The lists in CONTRIBUTING that show the way of a create: all that it names can be reached, and all that runs is named. */
import { existsSync, readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { listLoadedSources } from "../../.build/budget.ts";
import { startPlantStore } from "../../src/index.ts";
import { openConnection } from "../../src/store/sqlite/connection.ts";
import { packEntries } from "../../src/store/sqlite/rows.ts";
import { prepareDatabaseFile } from "../../src/store/sqlite/store-file.ts";
import { root } from "../helpers/run.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

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
  ["from the socket to the disk", fromSocket, 32],
  ["from the command line to the output", fromCommandLine, 32],
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

/** Runs work, and lists the files of src of which it calls a function, on this thread. */
async function listCalled(work: () => Promise<unknown>): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await work();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  return result.flatMap(({ url, functions }) => {
    const path = /[\\/]src[\\/].*/.exec(url)?.[0].slice(1).replaceAll("\\", "/");
    // The first function is the file itself, and one without a name may be a default of it.
    const isCalled = functions.some(
      ({ functionName, ranges: [all] }) => functionName && all?.count,
    );
    return path !== undefined && isCalled ? [path] : [];
  });
}

it("names each file that runs between a request and its response, on both threads", async () => {
  const path = join(await createTemporaryDirectory(), "plants.db");
  await using store = await startPlantStore({ store: `sqlite:${path}` });
  const onMainThread = await listCalled(async () => {
    const response = await fetch(`${store.url}/plants`, {
      method: "POST",
      headers: { authorization: `Bearer ${store.token}`, "content-type": "application/json" },
      body: '{"id":1,"name":"fern"}',
    });
    expect(response.status).toBe(200);
  });
  const file = prepareDatabaseFile(join(await createTemporaryDirectory(), "plants.db"), false);
  const connection = await openConnection({ ...file, access: "first" });
  const onWritingThread = await listCalled(async () => {
    const plant = { id: 1n, name: "fern" };
    const entries = packEntries([{ kind: "create", plant, onConflict: "reject" }]);
    expect(connection.commit(entries)).toEqual(["created"]);
  });
  connection.close();
  const run = new Set([...onMainThread, ...onWritingThread]);
  expect(run.size).toBeGreaterThan(20);
  const listed = fromSocket.map((step) => step.path);
  expect([...run].filter((each) => !listed.includes(each))).toEqual([]);
});

it("a create of the command line loads the files of its list, and those with a reason", async () => {
  const [, others = ""] = section?.split("A create loads these files too") ?? [];
  const withReason = [...others.matchAll(/`(src\/[^`]+)`/g)].map(([, path = ""]) => path);
  const listed = [...fromCommandLine.map(({ path }) => path), ...withReason];
  const [loaded = []] = await listLoadedSources([["create", "--id", "1", "--name", "fern"]]);
  expect(loaded.toSorted()).toEqual(listed.toSorted());
});
