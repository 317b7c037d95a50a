/** `plantstore delete`: which plants are deleted, and that the user agrees before. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { int64Max, int64Min } from "../../../src/core/plant.ts";
import { listStored } from "../../helpers/all-plants.ts";
import { allTerminals, containing, runCli, startCli } from "../../helpers/run-cli.ts";
import { createSqliteStore } from "../../helpers/sqlite-store.ts";

const ids = [int64Min, 1n, 2n, int64Max];

function createStore(): Promise<string> {
  return createSqliteStore(ids.map((id) => ({ id, name: `plant ${id}` })));
}

const listIds = async (url: string): Promise<readonly bigint[]> =>
  (await listStored(url)).map(({ id }) => id);

describe("delete", () => {
  it.each(["--yes", "-y"])("deletes the plants with %s, and reports it on stderr", async (flag) => {
    const url = await createStore();
    const args = ["delete", `${int64Min}`, "2", "2", flag, "--store", url];
    const message = `✓ deleted 2 plants with the ids ${int64Min}, 2 from the store ${url}\n`;
    expect(await runCli(args)).toExit(0, message);
    expect(await listIds(url)).toEqual([1n, int64Max]);
  });

  it("names unknown ids with exit code 9, after the other plants are deleted", async () => {
    const url = await createStore();
    const problem = `deleted the plant with the id 1 from the store ${url}\nerror: no plant in the store ${url} has the ids 7, -8\nList all plants:\n  plantstore list --store ${url}\n`;
    expect(await runCli(["delete", "7", "1", "-8", "--yes", "--store", url])).toExit(9, problem);
    expect(await listIds(url)).toEqual([int64Min, 2n, int64Max]);
  });

  it("prints each id once, with whether its plant was deleted, with --json", async () => {
    const url = await createStore();
    const args = ["delete", `${int64Max}`, "7", "1", "1", "--yes", "--json", "--store", url];
    expect(await runCli(args)).toExit(
      9,
      containing(`deleted 2 plants with the ids ${int64Max}, 1 from the store ${url}\n`),
      `{"id":${int64Max},"deleted":true}\n{"id":7,"deleted":false}\n{"id":1,"deleted":true}\n`,
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
    expect(stderr).toMatch(/has the ids 100, [\d, ]*, 119 and 10 more$/m);
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
    const message = `Store: ${url}\nDelete 2 plants with the ids 1, 2 from the store ${url} permanently? [y/N] \u001b[32m✓\u001b[39m deleted 2 plants with the ids 1, 2 from the store ${url}\n`;
    expect(await runCli(["delete", "1", "2", "--store", url], run)).toExit(0, message);
    expect(await listIds(url)).toEqual([int64Min, int64Max]);
  });

  it("deletes nothing without a yes", async () => {
    const url = await createStore();
    const run = { terminals: allTerminals, stdin: "\n" };
    const result = await runCli(["delete", "1", "--store", url], run);
    expect(result).toExit(
      2,
      containing(`not confirmed: no plant was deleted from the store ${url}\n`),
    );
    const question = `Delete the plant with the id 1 ("plant 1") from the store ${url} permanently? `;
    expect(result.stderr).toContain(question);
    expect(await listIds(url)).toEqual(ids);
  });

  it("asks with a name that the terminal cannot obey, and with the start of a long one", async () => {
    const name = `\u009b2J\u202E${"x".repeat(100_000)}`;
    const url = await createSqliteStore([{ id: 1n, name }]);
    const run = { terminals: allTerminals, stdin: "\n" };
    const { stderr } = await runCli(["delete", "1", "--store", url], run);
    expect(stderr).toMatch(/ \("\\u009b2J\\u202ex{36}…"\) from /);
  });

  it("deletes nothing when Ctrl-C is the answer", async () => {
    const url = await createStore();
    const options = { terminals: allTerminals, stdin: new PassThrough() };
    const run = startCli(["delete", "1", "--store", url], options);
    await run.saw("[y/N]");
    expect(run.signal("SIGINT")).toBe(true);
    expect(await run.finished).toExit(
      130,
      /stopped by SIGINT: no plant was deleted from the store \S+\n$/,
    );
    expect(await listIds(url)).toEqual(ids);
  });

  describe("with -", () => {
    const many = Array.from({ length: 1001 }, (_, index) => BigInt(index + 1));

    it("deletes exactly the ids on standard input, as they are or in lines of JSON, each once", async () => {
      const [even, odd] = [9007199254740992n, 9007199254740993n];
      const url = await createSqliteStore([...ids, even, odd].map((id) => ({ id, name: "fern" })));
      const stdin = `\uFEFF1\r\n\n{"record":2,"id":${odd},"status":"skipped"}\n {"id":2,"name":"a\u2028b"} \n1`;
      const args = ["delete", "--yes", "-", "--json", "--store", url];
      expect(await runCli(args, { stdin })).toExit(
        0,
        `✓ deleted 3 plants with the ids 1, ${odd}, 2 from the store ${url}\n`,
        `{"id":1,"deleted":true}\n{"id":${odd},"deleted":true}\n{"id":2,"deleted":true}\n`,
      );
      expect(await listIds(url)).toEqual([int64Min, even, int64Max]);
    });

    it("deletes the ids of an array", async () => {
      const url = await createStore();
      const args = ["delete", "--yes", "-", "--store", url];
      await runCli(args, { stdin: '[\n  {"id":1,"name":"a"},\n  {"id":2}\n]' });
      expect(await listIds(url)).toEqual([int64Min, int64Max]);
    });

    it("deletes nothing for empty input, with exit code 0", async () => {
      const url = await createStore();
      const message = `warning: the input has no ids\n✓ no plant was deleted from the store ${url}\n`;
      expect(await runCli(["delete", "--yes", "-", "--store", url])).toExit(0, message);
    });

    it.each([
      ["x", /^error: line 2: the id must be .* \(got "x"\)\n$/],
      ["9223372036854775808", /^error: line 2: the id must be .* \(got "9223372036854775808"\)\n$/],
      ['{"id":1,"id":2}', /^error: line 2: the id must be /],
      ['{"id":2', /^error: line 2: invalid JSON: /],
      ['{"id":1.5}', /^error: line 2: the id must be /],
      ['{"id":"2"}', /^error: line 2: the id must be /],
    ])("deletes nothing of a batch with the line %s", async (line, problem) => {
      const url = await createStore();
      const args = ["delete", "--yes", "-", "--store", url];
      const { exitCode, stderr } = await runCli(args, { stdin: `1\n${line}\n2\n` });
      expect(exitCode).toBe(2);
      expect(stderr.replace(`no plant was deleted from the store ${url}\n`, "")).toMatch(problem);
      expect(await listIds(url)).toEqual(ids);
    });

    it("reports the batches before an invalid line", async () => {
      const url = await createSqliteStore(many.map((id) => ({ id, name: "fern" })));
      const stdin = [...many, "x"].join("\n");
      const result = await runCli(["delete", "-y", "-", "--store", url], { stdin });
      expect(result).toExit(2, /^deleted 1,000 plants with the ids 1, .*\nerror: line 1002: /);
      expect(await listIds(url)).toEqual([1001n]);
    });

    it("reports the batches before Ctrl-C", async () => {
      const url = await createSqliteStore(many.map((id) => ({ id, name: "fern" })));
      const stdin = new PassThrough();
      stdin.write(many.map((id) => `${id}\n`).join(""));
      const run = startCli(["delete", "-y", "-", "--json", "--store", url], { stdin });
      await run.saw('{"id":1000,');
      run.signal("SIGINT");
      const { exitCode, stderr } = await run.finished;
      expect(exitCode).toBe(130);
      expect(stderr).toMatch(/^error: stopped by SIGINT: deleted 1,000 plants with the ids 1, /);
      expect(await listIds(url)).toEqual([1001n]);
    });

    it.each([
      [["-"], allTerminals, /: pass --yes to confirm$/m],
      [["-"], {}, /: pass --yes to confirm$/m],
      [
        ["-", "7", "--yes"],
        {},
        /^error: - reads the ids from standard input: remove the other ids$/m,
      ],
    ])("does not read standard input for %j on %j", async (args, terminals, problem) => {
      const stdin = new PassThrough();
      const run = { terminals, stdin, columns: 1000 };
      expect(await runCli(["delete", ...args], run)).toExit(2, problem);
    });
  });

  it.each([
    [["delete", "1.5"], /^error: the id must be an integer /],
    [["delete", "1", "--store", "memory:"], /^error: a memory: store exists only inside its/],
  ])("%j is rejected", async (argv, problem) => {
    expect(await runCli([...argv, "--yes"])).toExit(2, problem);
  });
});
