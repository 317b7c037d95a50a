/** `plantstore export --follow`: plants in the order of their commits, and the ones that are committed later. */
import { describe, expect, it, onTestFinished } from "vitest";
import { int64Max, int64Min } from "../../../../src/core/plant.ts";
import type { PlantStore } from "../../../../src/core/store.ts";
import { openStore } from "../../../../src/store/open-store.ts";
import { allTerminals, type CliRun, runCli, startCli } from "../../../helpers/run-cli.ts";
import { createSqliteStore } from "../../../helpers/sqlite-store.ts";

async function open(url: string): Promise<PlantStore> {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return store;
}

/** The lines of a run, each without its cursor, and the cursors. */
function parseOutput(stdout: string) {
  const lines = stdout.split("\n").slice(0, -1);
  const cursors = lines.map((line) => (JSON.parse(line) as { readonly cursor: string }).cursor);
  const entries = lines.map((line) => line.replace(/^\{"cursor":"[^"]+",/, "{"));
  return { cursors, entries };
}

/** Interrupts a run once it has printed a text. */
async function stopAfter(run: CliRun, text: string) {
  await run.saw(text);
  expect(run.signal("SIGINT")).toBe(true);
  return run.finished;
}

describe("export --follow", () => {
  it("prints plants in the order of their commits, exactly, and then each new one", async () => {
    const url = await createSqliteStore([{ id: int64Max, name: "last" }]);
    const store = await open(url);
    await store.create({ id: int64Min, name: "a\0b", tag: "" }, "reject");
    const run = startCli(["export", "--follow", "--store", url]);
    await run.saw("a\\u0000b");
    await store.create({ id: 1n, name: "fern", tag: "pot" }, "reject");
    await run.saw("fern");
    await store.delete?.([int64Max]);
    const { exitCode, stdout, stderr } = await stopAfter(run, "deleted");
    const { entries, cursors } = parseOutput(stdout);
    expect(entries).toEqual([
      `{"id":${int64Max},"name":"last"}`,
      `{"id":${int64Min},"name":"a\\u0000b","tag":""}`,
      '{"id":1,"name":"fern","tag":"pot"}',
      `{"id":${int64Max},"deleted":true}`,
    ]);
    expect(exitCode).toBe(130);
    expect(stderr).toBe(`stopped by SIGINT: resume with --after ${cursors.at(-1)}\n`);
  });

  it("prints only the plants after the cursor of --after", async () => {
    const plants = Array.from({ length: 250 }, (_, id) => ({
      id: BigInt(id),
      name: `plant ${id}`,
    }));
    const url = await createSqliteStore(plants);
    const first = await stopAfter(startCli(["export", "--follow", "--store", url]), "plant 249");
    const { cursors, entries } = parseOutput(first.stdout);
    expect(entries).toHaveLength(250);
    const args = ["export", "--follow", "--json", "--store", url, "--after", cursors[99] ?? ""];
    const { stdout } = await stopAfter(startCli(args), "plant 249");
    expect(parseOutput(stdout)).toEqual({
      cursors: cursors.slice(100),
      entries: entries.slice(100),
    });
  });

  it("begins with the first plant for an empty cursor", async () => {
    const url = await createSqliteStore([{ id: 1n, name: "fern" }]);
    const run = startCli(["export", "--follow", "--after", "", "--store", url]);
    expect((await stopAfter(run, "fern")).stdout).toContain('"id":1,"name":"fern"');
  });

  it("says that nothing was printed when it is stopped before", async () => {
    const url = await createSqliteStore([]);
    const run = startCli(["export", "--follow", "--store", url]);
    await expect.poll(() => run.signal("SIGTERM")).toBe(true);
    expect(await run.finished).toExit(143, "stopped by SIGTERM: nothing was printed\n");
  });

  it("ends with 141 when its output is closed and no plant follows", async () => {
    const url = await createSqliteStore([{ id: 1n, name: "fern" }]);
    const run = startCli(["export", "--follow", "--store", url]);
    await run.saw("fern");
    run.closeStdout();
    expect(await run.finished).toMatchObject({ exitCode: 141, stderr: "" });
  });

  it("ends with 141 when its output is closed and a plant follows", async () => {
    const url = await createSqliteStore([{ id: 1n, name: "fern" }]);
    const store = await open(url);
    const run = startCli(["export", "--follow", "--store", url]);
    await run.saw("fern");
    run.closeStdout();
    await store.create({ id: 2n, name: "moss" }, "reject");
    expect(await run.finished).toMatchObject({ exitCode: 141, stderr: "" });
  });

  it("escapes on a terminal what that would obey", async () => {
    const name = "a\u001b[31m\u202e";
    const url = await createSqliteStore([{ id: 1n, name }]);
    const run = startCli(["export", "--follow", "--store", url], { terminals: allTerminals });
    const { stdout } = await stopAfter(run, '"id":1');
    expect(stdout).toMatch(/^[ -~]*\n$/);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, name });
  });
});

it.each([
  [["--follow", "--csv"], /^error: --follow prints JSON: remove --csv\n/],
  [
    ["--after", "x"],
    /^error: --after is for --follow: add --follow, or use "plantstore list --after"/,
  ],
  [
    ["--follow", "--after", "x"],
    /^error: the store .* does not accept the cursor "x": it is malformed/,
  ],
  [
    ["--follow", "--after", "0123456789abcdef-1"],
    /^error: the store .* does not accept the cursor "0123456789abcdef-1": it belongs to another store/,
  ],
])("export %j is rejected with exit code 2", async (args, problem) => {
  const url = await createSqliteStore([{ id: 1n, name: "fern" }]);
  expect(await runCli(["export", ...args, "--store", url])).toExit(2, problem);
});
