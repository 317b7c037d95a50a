/** `plantstore get`: plants in a store by their ids. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { int64Max, int64Min } from "../../../../src/core/plant.ts";
import { allTerminals, containing, runCli, startCli } from "../../../helpers/run-cli.ts";
import { createSqliteStore } from "../../../helpers/sqlite-store.ts";

const fern = { id: 1n, name: "fern" };

describe("a plant in the store", () => {
  it("is one line of JSON on stdout, and stderr stays empty", async () => {
    const url = await createSqliteStore([fern, { id: 2n, name: "monstera", tag: "" }]);
    expect(await runCli(["get", "1", "--store", url])).toPrint('{"id":1,"name":"fern"}\n');
    const { stdout } = await runCli(["get", "2", "--store", url]);
    expect(stdout).toBe('{"id":2,"name":"monstera","tag":""}\n');
  });

  it.each([
    ["-5", -5n],
    ["-0", 0n],
    ["1.0", 1n],
    ["10e-1", 1n],
    ["-5e0", -5n],
    ["9007199254740993", 9007199254740993n],
    ["9223372036854775807", int64Max],
    ["-9223372036854775808", int64Min],
  ])("is found by %s, an id that `create --id` accepts", async (text, id) => {
    const url = await createSqliteStore([
      { id, name: "fern" },
      { id: 9007199254740992n, name: "neighbour" },
    ]);
    expect(await runCli(["get", text, "--store", url])).toPrint(`{"id":${id},"name":"fern"}\n`);
  });

  it("is exact in a pipe, and has control characters escaped on a terminal", async () => {
    const name = 'a\0b \u001b[31m \u202e \u2028 " \\ \uFEFF \u{1F331}';
    const url = await createSqliteStore([{ id: 1n, name }]);
    const piped = await runCli(["get", "1", "--store", url]);
    expect(piped.stdout).toBe(`{"id":1,"name":${JSON.stringify(name)}}\n`);

    const shown = await runCli(["get", "1", "--store", url], { terminals: allTerminals });
    expect(shown.stdout).toMatch(/^[ -~\u{1F331}]*\n$/u);
    expect(JSON.parse(shown.stdout)).toEqual({ id: 1, name });
  });
});

it("reports an unknown id on stderr, with exit code 9", async () => {
  const url = await createSqliteStore([fern]);
  expect(await runCli(["get", "-2", "--store", url])).toExit(
    9,
    `error: no plant in the store ${url} has the id -2\nList all plants:\n  plantstore list --store ${url}\n`,
  );
});

describe("several ids", () => {
  const plants = [fern, { id: 2n, name: "rose" }, { id: 3n, name: "ivy" }];

  it("print the plants in the order of the ids", async () => {
    const url = await createSqliteStore(plants);
    const output = '{"id":3,"name":"ivy"}\n{"id":1,"name":"fern"}\n{"id":1,"name":"fern"}\n';
    expect(await runCli(["get", "3", "1", "1", "--store", url])).toPrint(output);
  });

  it("name every unknown id, print the other plants, and exit with 9", async () => {
    const url = await createSqliteStore(plants);
    expect(await runCli(["get", "7", "2", "-8", "7", "--store", url])).toExit(
      9,
      `error: no plant in the store ${url} has the ids 7, -8\nList all plants:\n  plantstore list --store ${url}\n`,
      '{"id":2,"name":"rose"}\n',
    );
  });

  it("print nothing if one of them is invalid", async () => {
    const url = await createSqliteStore(plants);
    const { exitCode, stdout } = await runCli(["get", "2", "x", "--store", url]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });
});

describe("an invalid id", () => {
  it.each(["", "fern", "1.5", "1_0", "0x1", "9223372036854775808", "1e999999999"])(
    "%j is rejected, and the message describes a valid id",
    async (text) => {
      const url = await createSqliteStore([fern]);
      const problem = `error: the id must be an integer from ${int64Min} to ${int64Max} (got "${text}")\n`;
      expect(await runCli(["get", text, "--store", url])).toExit(2, problem);
    },
  );

  it.each(["01", "-007"])("%s is rejected because of its zeros", async (text) => {
    const url = await createSqliteStore([fern]);
    const problem = `error: the id must be an integer without leading zeros (got "${text}")\n`;
    expect(await runCli(["get", "--store", url, "--", text])).toExit(2, problem);
  });
});

describe("ids on standard input", () => {
  it("print each plant as soon as its line is complete, until Ctrl-C", async () => {
    const url = await createSqliteStore([fern, { id: 9007199254740993n, name: "ivy" }]);
    const stdin = new PassThrough();
    const run = startCli(["get", "-", "--store", url], { stdin });
    stdin.write("1\n9007199254740993");
    await run.saw('{"id":1,"name":"fern"}\n');
    stdin.write("\n");
    await run.saw('{"id":9007199254740993,"name":"ivy"}\n');
    run.signal("SIGINT");
    const problem = containing("stopped by SIGINT: some plants are missing in the output\n");
    expect(await run.finished).toExit(130, problem, [{ name: "fern" }, { name: "ivy" }]);
  });

  it("name the unknown ones, up to 20, with exit code 9", async () => {
    const url = await createSqliteStore([fern]);
    const unknown = Array.from({ length: 25 }, (_, index) => `${index + 2}\n`);
    const stdin = ['{"id":1,"status":"created"}\n', ...unknown, "2"].join("");
    const { exitCode, stdout, stderr } = await runCli(["get", "-", "--store", url], { stdin });
    expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: '{"id":1,"name":"fern"}\n' });
    expect(stderr).toMatch(/ has the ids 2, [\d, ]*, 21 and 5 more$/m);
  });

  it("print nothing but a warning for empty input, and are announced on a terminal", async () => {
    const url = await createSqliteStore([fern]);
    const empty = await runCli(["get", "-", "--store", url]);
    expect(empty).toExit(0, "warning: the input has no ids\n");
    const typed = await runCli(["get", "-", "--store", url], { terminals: allTerminals });
    expect(typed.stderr).toContain("reading ids from the terminal: end with Ctrl-D\n");
  });
});

it.each(["get", "export"])("%s prints JSON without --json", async (name) => {
  const args = name === "get" ? [name, "1"] : [name];
  expect(await runCli([...args, "--json"])).toExit(
    2,
    containing("no '--json': the output is JSON"),
  );
});
