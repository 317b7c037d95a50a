/** `plantstore delete`: which plants are deleted, and that the user agrees before. */
import { describe, expect, it } from "vitest";
import { int64Max, int64Min } from "../../../src/core/plant.ts";
import { openStoreReader } from "../../../src/store/open-store.ts";
import { allTerminals, runCli, startCli } from "../../helpers/run-cli.ts";
import { createSqliteStore } from "../../helpers/sqlite-store.ts";

const ids = [int64Min, 1n, 2n, int64Max];

function createStore(): Promise<string> {
  return createSqliteStore(ids.map((id) => ({ id, name: `plant ${id}` })));
}

async function listIds(url: string): Promise<readonly bigint[]> {
  const store = await openStoreReader(url);
  const plants = await store.list({ limit: 9 });
  await store.close();
  return plants.map(({ id }) => id);
}

describe("delete", () => {
  it.each(["--yes", "-y"])(
    "deletes the plants with %s, and reports that on stderr",
    async (flag) => {
      const url = await createStore();
      const args = ["delete", `${int64Min}`, "2", "2", flag, "--store", url];
      expect(await runCli(args)).toEqual({
        exitCode: 0,
        stdout: "",
        stderr: `deleted 2 plants with the ids ${int64Min}, 2 from the store ${url}\n`,
      });
      expect(await listIds(url)).toEqual([1n, int64Max]);
    },
  );

  it("names unknown ids with exit code 9, after the other plants are deleted", async () => {
    const url = await createStore();
    expect(await runCli(["delete", "7", "1", "-8", "--yes", "--store", url])).toEqual({
      exitCode: 9,
      stdout: "",
      stderr: `deleted the plant with the id 1 from the store ${url}\nerror: no plant in the store ${url} has the ids 7, -8: "plantstore list" shows all plants\n`,
    });
    expect(await listIds(url)).toEqual([int64Min, 2n, int64Max]);
  });

  it("prints each id once, with whether its plant was deleted, with --json", async () => {
    const url = await createStore();
    const args = ["delete", `${int64Max}`, "7", "1", "1", "--yes", "--json", "--store", url];
    const { exitCode, stdout, stderr } = await runCli(args);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 9,
      stdout: `{"id":${int64Max},"deleted":true}\n{"id":7,"deleted":false}\n{"id":1,"deleted":true}\n`,
    });
    expect(stderr).toContain(
      `deleted 2 plants with the ids ${int64Max}, 1 from the store ${url}\n`,
    );
    expect(await listIds(url)).toEqual([int64Min, 2n]);
  });

  it("prints nothing with --json and without consent", async () => {
    const args = ["delete", "1", "--json", "--store", await createStore()];
    expect(await runCli(args)).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it("names at most 20 ids", async () => {
    const many = Array.from({ length: 30 }, (_, index) => `${index + 100}`);
    const { stderr } = await runCli(["delete", ...many, "-y", "--store", await createStore()]);
    expect(stderr).toMatch(/has the ids 100, [\d, ]*, 119 and 10 more: /);
  });

  it("needs --yes without a terminal", async () => {
    const url = await createStore();
    const { exitCode, stderr } = await runCli(["delete", "1", "--store", url]);
    expect(exitCode).toBe(2);
    expect(stderr.split("\n")[0]).toBe(
      `error: delete removes plants from the store ${url} permanently: pass --yes to confirm`,
    );
    expect(await listIds(url)).toEqual(ids);
  });

  it("asks on a terminal with the store and the ids, and deletes after a yes", async () => {
    const url = await createStore();
    const run = { terminals: allTerminals, stdin: "y\n", columns: 1000 };
    const { exitCode, stderr } = await runCli(["delete", "1", "2", "--store", url], run);
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      `Delete 2 plants with the ids 1, 2 from the store ${url} permanently? [y/N] deleted 2 plants with the ids 1, 2 from the store ${url}\n`,
    );
    expect(await listIds(url)).toEqual([int64Min, int64Max]);
  });

  it("deletes nothing without a yes", async () => {
    const url = await createStore();
    const run = { terminals: allTerminals, stdin: "\n" };
    const { exitCode, stderr } = await runCli(["delete", "1", "--store", url], run);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/not confirmed: no plant was deleted\n$/);
    expect(await listIds(url)).toEqual(ids);
  });

  it("deletes nothing when Ctrl-C is the answer", async () => {
    const url = await createStore();
    const { PassThrough } = await import("node:stream");
    const options = { terminals: allTerminals, stdin: new PassThrough() };
    const run = startCli(["delete", "1", "--store", url], options);
    await run.saw("[y/N]");
    expect(run.signal("SIGINT")).toBe(true);
    const { exitCode, stderr } = await run.finished;
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(/stopped by SIGINT: no plant was deleted\n$/);
    expect(await listIds(url)).toEqual(ids);
  });

  it.each([
    [["delete", "1.5"], 2, /^error: the id must be an integer /],
    [["delete"], 2, /^error: missing required argument 'id'/],
    [["delete", "1", "--store", "memory:"], 2, /^error: a memory: store exists only inside its/],
    [["delete", "1", "--store", "sqlite:/nonexistent/plants.db"], 2, /does not exist/],
  ])("%j is rejected with exit code %i", async (argv, code, problem) => {
    const { exitCode, stderr } = await runCli([...argv, "--yes"]);
    expect(exitCode).toBe(code);
    expect(stderr).toMatch(problem);
  });
});
