/** `plantstore list`: some plants in a store, for a user and for a program. */
import { describe, expect, it } from "vitest";
import { int64Max, int64Min, type NewPlant } from "../../../../src/core/plant.ts";
import { startServer } from "../../../helpers/plant-server.ts";
import { allTerminals, runCli } from "../../../helpers/run-cli.ts";
import { createSqliteStore } from "../../../helpers/sqlite-store.ts";

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

/** The ids that a list prints into a pipe, as text. */
async function listIds(url: string, args: readonly string[]): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await runCli(["list", "--store", url, ...args]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return Array.from(stdout.matchAll(/^\{"id":(-?\d+),.*\}\n/gm), ([, id = ""]) => id);
}

it("prints one NewPlant as JSON on each line, in the order of the ids, and nothing on stderr", async () => {
  const url = await createSqliteStore(plants);
  expect(await runCli(["list", "--store", url])).toPrint(
    [
      `{"id":${int64Min},"name":"first"}\n`,
      '{"id":-5,"name":"moss","tag":""}\n',
      '{"id":2,"name":"rose","tag":"pot"}\n',
      '{"id":10,"name":"fern","tag":"pot"}\n',
      `{"id":${int64Max},"name":"last"}\n`,
    ].join(""),
  );
});

describe("which plants", () => {
  it.each<[flags: string, ids: readonly bigint[]]>([
    ["--limit 2", [int64Min, -5n]],
    ["--limit 10000", [int64Min, -5n, 2n, 10n, int64Max]],
    ["--after -5", [2n, 10n, int64Max]],
    ["--after=-6", [-5n, 2n, 10n, int64Max]],
    ["--after 1e1", [int64Max]],
    [`--after ${int64Max}`, []],
    ["--tag pot", [2n, 10n]],
    ["--tag ", [-5n]],
    ["--tag po", []],
    ["--tag pot --after 2 --limit 1", [10n]],
  ])("%s: %s", async (flags, ids) => {
    const url = await createSqliteStore(plants);
    expect(await listIds(url, flags.split(" "))).toEqual(ids.map(String));
  });

  it("prints the first 100 as a table, as its help says, and reports that there are more", async () => {
    const url = await createMany(101);
    const run = { terminals: { stdout: true } };
    const { stdout: lines, stderr } = await runCli(["list", "--store", url], run);
    expect(lines.trimEnd().split("\n")).toHaveLength(1 + 100);
    expect(stderr).toBe(`More:\n  plantstore list --after 99 --store ${url}\n`);
    expect(await runCli(["list", "--help"])).toPrint(
      /--limit <n> +Number of plants, up to 10000 \(default: 100 for a table\)/,
    );
  });

  it.each<[where: string, flags: readonly string[], run: object]>([
    ["in a pipe", [], {}],
    ["with --json on a terminal", ["--json"], { terminals: { stdout: true } }],
    ["with --csv on a terminal", ["--csv"], { terminals: { stdout: true } }],
  ])("prints all %s, unless a limit is given", async (_, flags, run) => {
    const url = await createMany(12_345);
    const header = flags.includes("--csv") ? 1 : 0;
    const all = await runCli(["list", ...flags, "--store", url], run);
    expect(all.stdout.trimEnd().split("\n")).toHaveLength(header + 12_345);
    expect(all.stderr).toBe("");
    const some = await runCli(["list", ...flags, "-n", "50", "--store", url], run);
    expect(some.stdout.trimEnd().split("\n")).toHaveLength(header + 50);
  });

  it("is not by ids, which is what get is for", async () => {
    const advice = `Print a plant by its id:\n  plantstore get ID\nSee "plantstore list --help"\n`;
    const message = "list takes no ids: select plants with --after, --limit and --tag";
    expect(await runCli(["list", "7"])).toExit(2, `error: ${message}\n${advice}`);
  });

  it.each<[args: readonly string[], message: string, hasUsage?: boolean]>([
    [["--after", "1", "--after", "2"], "--after is given twice: remove one of them", true],
    [["--json", "--csv"], "--json excludes --csv: remove one of them", true],
    [["--limit", "0"], '--limit must be a whole number from 1 to 10000 (got "0")'],
    [["--limit", "10001"], '--limit must be a whole number from 1 to 10000 (got "10001")'],
    [["--limit", "-1"], '--limit must be a whole number from 1 to 10000 (got "-1")'],
    [["--after", "1.5"], `--after must be an integer from ${int64Min} to ${int64Max} (got "1.5")`],
  ])("%j is rejected", async (args, message, hasUsage = false) => {
    const result = await runCli(["list", ...args]);
    expect(result).toExit(2, hasUsage ? /^error: [^\n]*\nSee [^\n]*\n$/ : `error: ${message}\n`);
    expect(result.stderr).toContain(`error: ${message}`);
  });
});

describe("formats", () => {
  it("--json prints JSON even on a terminal", async () => {
    const url = await createSqliteStore(plants.slice(1, 2));
    const args = ["list", "--json", "--store", url];
    const { stdout } = await runCli(args, { terminals: allTerminals });
    expect(stdout).toBe('{"id":10,"name":"fern","tag":"pot"}\n');
  });

  it.each(["list", "export"])("%s --csv prints what create --csv reads", async (command) => {
    const strange: readonly NewPlant[] = [
      ...plants,
      { id: 20n, name: 'a "b", c', tag: " \r\n\0\uFEFF" },
      { id: 21n, name: "", tag: "\r" },
      { id: 22n, name: " \u2028x" },
    ];
    const url = await createSqliteStore(strange);
    const { exitCode, stdout, stderr } = await runCli([command, "--csv", "--store", url]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^id,name,tag\n-9223372036854775808,first,\n-5,moss,""\n2,rose,pot\n/);

    await using server = await startServer();
    expect(await runCli(["create", "--csv", "--quiet"], { server, stdin: stdout })).toPrint("");
    expect(await server.store.list({ limit: 100 })).toEqual(
      strange.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  });

  it("--csv escapes control characters on a terminal", async () => {
    const url = await createSqliteStore([{ id: 1n, name: "\u001b[31m" }]);
    const { stdout } = await runCli(["list", "--csv", "--store", url], { terminals: allTerminals });
    expect(stdout).toBe("id,name,tag\n1,\\u001b[31m,\n");
  });

  it.each([
    [[], "250\n"],
    [["--limit", "3"], "250\n"],
    [["--after", "239"], "10\n"],
    [["--tag", "pot"], "0\n"],
  ])("--count %j prints the number of plants", async (args, number) => {
    const url = await createMany(250);
    expect(await runCli(["list", "--count", "--store", url, ...args])).toPrint(number);
  });
});

describe("on a terminal", () => {
  const terminal = { terminals: allTerminals };
  const store = (url: string): string => `Store: ${url}\n`;

  it("prints a table", async () => {
    const url = await createSqliteStore(plants.filter(({ id }) => id !== int64Min));
    expect(await runCli(["list", "--store", url], terminal)).toExit(
      0,
      store(url),
      [
        "                 ID  NAME  TAG\n",
        '                 -5  moss  ""\n',
        "                  2  rose  pot\n",
        "                 10  fern  pot\n",
        "9223372036854775807  last\n",
      ].join(""),
    );
  });

  it("cuts long cells of the table", async () => {
    const url = await createSqliteStore([{ id: 1n, name: "n".repeat(100), tag: "t".repeat(100) }]);
    const { stdout } = await runCli(["list", "--store", url], { ...terminal, columns: 60 });
    const [, line = ""] = stdout.split("\n");
    expect(line).toMatch(/^ 1 {2}n{60}… {2}t{60}…$/);
  });

  it("names the option that shows more plants, until the end", async () => {
    const url = await createMany(5);
    const first = await runCli(["list", "--store", url, "--limit", "3"], terminal);
    const next = `plantstore list --limit 3 --after 2 --store ${url}`;
    expect(first.stderr).toBe(`${store(url)}More:\n  ${next}\n`);
    const second = await runCli(["list", "--store", url, "--limit", "2", "--after", "2"], terminal);
    expect(second.stdout).toBe("ID  NAME     TAG\n 3  plant 3\n 4  plant 4\n");
    expect(second.stderr).toBe(store(url));
  });

  it("counts only plants with the tag as more plants", async () => {
    const url = await createSqliteStore(plants);
    const args = ["list", "--store", url, "--tag", "pot"];
    expect((await runCli([...args, "--limit", "2"], terminal)).stderr).toBe(store(url));
    const { stderr } = await runCli([...args, "--limit", "1"], terminal);
    expect(stderr).toMatch(/\nMore:\n  plantstore list --limit 1 --after 2 --tag pot --store /);
  });

  it("prints its remarks on a page only if stderr is a terminal", async () => {
    const url = await createMany(2);
    const argv = ["list", "--store", url, "--limit", "1"];
    const shown = await runCli(argv, { terminals: { stderr: true } });
    expect(shown).toExit(
      0,
      `${store(url)}More:\n  plantstore list --limit 1 --after 0 --store ${url}\n`,
      '{"id":0,"name":"plant 0"}\n',
    );
    expect(await runCli(argv)).toEqual({ ...shown, stderr: "" });
  });

  it("reports an empty list", async () => {
    const url = await createSqliteStore([]);
    expect(await runCli(["list", "--store", url], terminal)).toExit(0, `${store(url)}no plants\n`);
  });
});
