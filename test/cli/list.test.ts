/** `plantstore list`: some plants out of a store, for a person and for a program. */
import { describe, expect, it } from "vitest";
import { int64Max, int64Min } from "../../src/core/int64.ts";
import type { NewPlant } from "../../src/core/plant.ts";
import { allTerminals, runCli } from "../helpers/run-cli.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";

const plants: readonly NewPlant[] = [
  { id: int64Max, name: "last" },
  { id: 10n, name: "fern", tag: "pot" },
  { id: -5n, name: "moss", tag: "" },
  { id: int64Min, name: "first" },
  { id: 2n, name: "rose", tag: "pot" },
];

function createMany(count: number): Promise<string> {
  const ids = Array.from({ length: count }, (_, index) => BigInt(index));
  return createSqliteStore(ids.map((id) => ({ id, name: `plant ${id}` })));
}

/** The ids that a list prints into a pipe, as they stand there. */
async function listIds(url: string, args: readonly string[]): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await runCli(["list", "--store", url, ...args]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return Array.from(stdout.matchAll(/^\{"id":(-?\d+),.*\}\n/gm), ([, id = ""]) => id);
}

describe("into a pipe", () => {
  it("is one NewPlant as JSON on each line, in the order of the ids, and stderr stays empty", async () => {
    const url = await createSqliteStore(plants);
    expect(await runCli(["list", "--store", url])).toEqual({
      exitCode: 0,
      stdout: [
        `{"id":${int64Min},"name":"first"}\n`,
        '{"id":-5,"name":"moss","tag":""}\n',
        '{"id":2,"name":"rose","tag":"pot"}\n',
        '{"id":10,"name":"fern","tag":"pot"}\n',
        `{"id":${int64Max},"name":"last"}\n`,
      ].join(""),
      stderr: "",
    });
  });

  it("every string is exact", async () => {
    const name = 'a\0b \u001b[31m \u202e \u2028 " \\ \n \uFEFF \u{1F331}';
    const url = await createSqliteStore([{ id: 1n, name, tag: name }]);
    const { stdout } = await runCli(["list", "--store", url]);
    const text = JSON.stringify(name);
    expect(stdout).toBe(`{"id":1,"name":${text},"tag":${text}}\n`);
  });

  it("is nothing from an empty store", async () => {
    const url = await createSqliteStore([]);
    expect(await runCli(["list", "--store", url])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });
});

describe("which plants", () => {
  it.each<[args: readonly string[], ids: readonly bigint[]]>([
    [
      ["--limit", "2"],
      [int64Min, -5n],
    ],
    [
      ["--limit", "10000"],
      [int64Min, -5n, 2n, 10n, int64Max],
    ],
    [
      ["--after", "-5"],
      [2n, 10n, int64Max],
    ],
    [["--after=-6"], [-5n, 2n, 10n, int64Max]],
    [["--after", "1e1"], [int64Max]],
    [["--after", `${int64Max}`], []],
    [
      ["--tag", "pot"],
      [2n, 10n],
    ],
    [["--tag", ""], [-5n]],
    [["--tag", "po"], []],
    [["--tag", "pot", "--after", "2", "--limit", "1"], [10n]],
  ])("%j: %s", async (args, ids) => {
    const url = await createSqliteStore(plants);
    expect(await listIds(url, args)).toEqual(ids.map(String));
  });

  it("the first 100, unless it is told, as its help says", async () => {
    const url = await createMany(101);
    expect(await listIds(url, [])).toHaveLength(100);
    expect(await listIds(url, ["--limit", "101"])).toHaveLength(101);
    const { stdout } = await runCli(["list", "--help"]);
    expect(stdout).toMatch(
      /--limit <n> +the most plants to print, up to 10000\n +\(default: 100\)/,
    );
  });

  it.each([
    [["--limit", "0"], '--limit is "0": it must be a whole number from 1 to 10000'],
    [["--limit", "10001"], '--limit is "10001": it must be a whole number from 1 to 10000'],
    [["--limit", "-1"], '--limit is "-1": it must be a whole number from 1 to 10000'],
    [["--after", "1.5"], `--after is "1.5": it must be an integer from ${int64Min} to ${int64Max}`],
    [["--after", "1", "--after", "2"], "--after is given twice: leave one of them out"],
    [["--tag", "\uD83C"], "--tag holds a lone surrogate: write the pair, or leave it out"],
    [
      ["fern"],
      "too many arguments for 'list' (1 instead of none): text with spaces needs quotation marks\nsee",
    ],
  ])("%j is refused in one line", async (args, message) => {
    const { exitCode, stdout, stderr } = await runCli(["list", ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^error: [^\n]*\n(?:see [^\n]*\n)?$/);
    expect(stderr).toContain(message);
  });
});

describe("on a terminal", () => {
  const terminal = { terminals: allTerminals };

  it("is a table", async () => {
    const url = await createSqliteStore(plants.filter(({ id }) => id !== int64Min));
    expect(await runCli(["list", "--store", url], terminal)).toEqual({
      exitCode: 0,
      stdout: [
        "                 ID  NAME  TAG\n",
        '                 -5  moss  ""\n',
        "                  2  rose  pot\n",
        "                 10  fern  pot\n",
        "9223372036854775807  last\n",
      ].join(""),
      stderr: "",
    });
  });

  it("is as wide as that", async () => {
    const url = await createSqliteStore([{ id: 1n, name: "n".repeat(100), tag: "t".repeat(100) }]);
    const { stdout } = await runCli(["list", "--store", url], { ...terminal, columns: 60 });
    const [, line = ""] = stdout.split("\n");
    expect(line).toMatch(/^ 1 {2}n+… {2}t+…$/);
    expect(line).toHaveLength(60);
  });

  it("says how to go on when there are more, and that leads to the end", async () => {
    const url = await createMany(5);
    const first = await runCli(["list", "--store", url, "--limit", "3"], terminal);
    expect(first.stderr).toBe("there are more: --after 2 shows the next ones\n");
    const second = await runCli(["list", "--store", url, "--limit", "2", "--after", "2"], terminal);
    expect(second.stdout).toBe("ID  NAME     TAG\n 3  plant 3\n 4  plant 4\n");
    expect(second.stderr).toBe("");
  });

  it("says so of plants with the tag alone", async () => {
    const url = await createSqliteStore(plants);
    const args = ["list", "--store", url, "--tag", "pot"];
    expect((await runCli([...args, "--limit", "2"], terminal)).stderr).toBe("");
    const { stderr } = await runCli([...args, "--limit", "1"], terminal);
    expect(stderr).toBe("there are more: --after 2 shows the next ones\n");
  });

  it("says so to the person beside a pipe, and in a pipe to nobody", async () => {
    const url = await createMany(2);
    const argv = ["list", "--store", url, "--limit", "1"];
    const beside = await runCli(argv, { terminals: { stderr: true } });
    expect(beside).toEqual({
      exitCode: 0,
      stdout: '{"id":0,"name":"plant 0"}\n',
      stderr: "there are more: --after 0 shows the next ones\n",
    });
    expect(await runCli(argv)).toEqual({ ...beside, stderr: "" });
  });

  it("says that there are none", async () => {
    const url = await createSqliteStore([]);
    const result = await runCli(["list", "--store", url], terminal);
    expect(result).toEqual({ exitCode: 0, stdout: "", stderr: "no plants\n" });
  });
});
