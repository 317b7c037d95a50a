/** `plantstore create` with many plants, and with one in the input, against a real server. */
import { describe, expect, it } from "vitest";
import { startServer } from "../../../helpers/plant-server.ts";
import { parseLines } from "../../../helpers/run-cli.ts";
import {
  a,
  b,
  create,
  createdA,
  createInput,
  lineOfA,
  listStored,
  startTyping,
  summary,
  toPath,
  rejectsPath,
  useServer,
  writeInput,
} from "./bulk.ts";

useServer();

/** Returns records like {@link a} as CSV. */
function toTable(records: readonly string[]): string {
  const rows = records.map((record) => {
    const { id, name } = JSON.parse(record) as { readonly id: number; readonly name: string };
    return `${id},${name}\n`;
  });
  return `id,name\n${rows.join("")}`;
}

describe("many plants", () => {
  it("have a line with their result each, in the order of the input", async () => {
    const broken = '{"id":3';
    const other = '{"id":1,"name":"other"}';
    const { exitCode, stdout, stderr } = await createInput([a, b, broken, a, other, ""].join("\n"));
    expect(parseLines(stdout)).toEqual([
      createdA,
      { record: 2, line: 2, id: 2, status: "created", plant: { name: "b", tag: "pot" } },
      {
        record: 3,
        line: 3,
        status: "rejected",
        error: { error: 40001, message: expect.any(String) },
      },
      { record: 4, line: 4, id: 1, status: "unchanged", plant: { name: "a" } },
      {
        record: 5,
        line: 5,
        id: 1,
        status: "rejected",
        error: { error: 40900, message: expect.any(String) },
        requestId: expect.stringMatching(/^[0-9a-f]{12}-[0-9a-z]+$/),
      },
    ]);
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(summary(2, 1, 0, 2, 0));
  });

  it("have all digits of their ids, and a number each even if two are on one line", async () => {
    const { stdout } = await createInput(
      '{"id":1,"name":1} {"id":9007199254740993,"name":"b"} {"id":"1"}',
    );
    const [first, second, third] = stdout.split("\n");
    expect(first).toMatch(/^\{"record":1,"line":1,"id":1,"status":"rejected"/);
    expect(second).toBe(
      '{"record":2,"line":1,"id":9007199254740993,"status":"created","plant":{"name":"b"}}',
    );
    expect(third).toMatch(/^\{"record":3,"line":1,"status":"rejected"/);
  });

  it("of a server that replaces are replaced in the order of the input", async () => {
    await using server = await startServer({ onConflict: "replace" });
    const names = Array.from({ length: 50 }, (_, index) => `name ${index}`);
    const stdin = names.map((name) => `{"id":1,"name":"${name}"}\n`).join("");
    const { exitCode, stdout } = await create(["-"], { server, stdin });
    expect(exitCode).toBe(0);
    expect(parseLines(stdout)).toHaveLength(50);
    expect(await server.store.get(1n)).toEqual({ id: 1n, name: "name 49" });
  });

  const table = "id,name,tag\n1,a,\n2,b,pot\n";
  const withTabs = "tag\tname\tid\n\ta\t1\npot\tb\t2";
  it.each<[name: string, text: string, flags: readonly string[]]>([
    ["-", `[${a},\n${b}]`, []],
    ["-", `${a}${b}`, []],
    ["-", `\uFEFF${a}\r\n${b}\r\n`, []],
    ["-", table, ["--csv"]],
    ["-", table.replaceAll(",", ";"), ["--delimiter", ";"]],
    ["-", `${table};;\n`.replaceAll(",", ";"), ["--csv"]],
    ["-", withTabs, ["--delimiter", "tab"]],
    ["-", withTabs, ["--csv", "--delimiter=\t"]],
    ["-", '\uFEFF"id",Name,TAG\r\n1,a\r\n2,b,pot\r\n', ["--csv"]],
    ["plants.csv", table, []],
    ["PLANTS.CSV", table, []],
    ["plants.Tsv", withTabs, []],
    ["plants.tsv.txt", `${a}\n${b}`, []],
    ["plants.txt", table, ["--csv"]],
    ["plants.tsv", table, ["--csv"]],
    ["plants.csv", table.replaceAll(",", ";"), ["--delimiter", ";"]],
    ["plants.csv", "sep=;\r\nid;name;tag\r\n1;a;\r\n2;b;pot\r\n;;\r\n", []],
  ])("are read from %s, which has %j, with the flags %j", async (name, text, flags) => {
    const input = name === "-" ? name : await writeInput(name, text);
    const result = await create([input, ...flags], { stdin: text });
    expect(result).toMatchObject({ exitCode: 0 });
    expect(await listStored()).toEqual([
      { id: 1n, name: "a" },
      { id: 2n, name: "b", tag: "pot" },
    ]);
  });

  it("are read from several files, each in the format of its name", async () => {
    const paths = [
      await writeInput("a.ndjson", `${a}\n`),
      await writeInput("b.csv", "id,name\n3,c\n"),
      "-",
      await writeInput("d.tsv", "name\tid\nd\t4\n"),
    ];
    const options = { stdin: b };
    expect(await create(paths, options)).toMatchObject({ exitCode: 0 });
    const stored = await listStored();
    expect(stored.map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
    const result = await create([...paths, "--rejects", rejectsPath()], options);
    expect(result).toExit(2, /^error: --rejects is for inputs of one format: run create for each/);
  });

  it("of several files name their file", async () => {
    const first = await writeInput("first.json", `[${a}]`);
    const second = await writeInput("second.json", `\n${b}`);
    expect(await create([first, second])).toPrint([
      { record: 1, file: first, line: 1, status: "created" },
      { record: 2, file: second, line: 2, status: "created" },
    ]);
  });

  it("of several files are not sent if one file is missing", async () => {
    const path = await writeInput("plants.json", a);
    const missing = toPath("missing.json");
    const result = await create([path, missing]);
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await listStored()).toEqual([]);
  });

  it.each([
    ["--json", `${a}\n${b.slice(0, 9)}`, b.slice(9)],
    ["--csv", "id,name\n1,a\n2", ",b"],
  ])("with %s have their result as soon as it is known", async (flag, start, rest) => {
    const run = startTyping(start, [flag, "-"]);
    await run.saw('"status":"created"');
    run.stdin.end(rest);
    expect(parseLines((await run.finished).stdout)).toHaveLength(2);
  });

  it("with --quiet print only rejected and failed records and the summary", async () => {
    expect(await createInput(`${a}\n{}\n${b}\n`, "--quiet")).toExit(8, summary(2, 0, 0, 1, 0), [
      { record: 2, line: 2, status: "rejected" },
    ]);
    expect(await createInput(`${a}\n${b}\n`, "--quiet")).toPrint("");
  });

  it("with --quiet print usage errors", async () => {
    const problem =
      /^created 1, .*\nerror: standard input ends inside the array that begins at line 1: [^\n]*\nCorrect the input, then resume with the same input:\n.* --from-line 1 --quiet -\n$/;
    expect(await createInput(`[${a},`, "--quiet")).toExit(2, problem);
  });
});

describe("a single plant", () => {
  it.each([`${a}\n`, `\n  {"id":1,\n"name":"a"}`])("%j prints just the Plant", async (input) => {
    expect(await createInput(input)).toMatchObject({ exitCode: 0, stdout: '{"name":"a"}\n' });
  });

  it.each<[what: string, input: string, args: readonly string[]]>([
    ["with --json", a, ["--json"]],
    ["with --from-line", a, ["--from-line", "1"]],
    ["in an array", `[${a}]`, []],
  ])("gets a line %s", async (_what, input, args) => {
    expect(await createInput(input, ...args)).toPrint(lineOfA);
  });

  describe.each([
    ["plants.ndjson", (records: readonly string[]) => records.join("\n")],
    ["plants.JSONL", (records: readonly string[]) => records.join("\n")],
    ["plants.csv", toTable],
    ["plants.tsv", (records: readonly string[]) => toTable(records).replaceAll(",", "\t")],
  ])("in a file that is called %s", (name, toText) => {
    const createFile = async (...records: readonly string[]) =>
      create([await writeInput(name, toText(records))]);

    it("gets a line", async () => {
      expect(await createFile(a)).toPrint([{ record: 1, id: 1, status: "created" }]);
    });

    it("that is rejected gets a line, and the exit code of several", async () => {
      const other = '{"id":1,"name":"other"}';
      await createFile(a);
      expect(await createFile(other)).toExit(8, summary(0, 0, 0, 1, 0), [
        { record: 1, status: "rejected", error: { error: 40900 } },
      ]);
    });

    it("that is missing is a warning", async () => {
      expect(await createFile()).toExit(0, "warning: the input has no records\n");
    });
  });

  it("in a file of another name prints just the Plant or the Error", async () => {
    for (const name of ["plant.json", "plant", "plants.log"]) {
      const path = await writeInput(name, a);
      expect(await create([path])).toPrint('{"name":"a"}\n');
      const missing = await create([await writeInput(name, "")]);
      expect(missing).toExit(3, /^error 40003: /, [{ error: 40003 }]);
    }
  });

  it("with --quiet prints nothing", async () => {
    expect(await createInput(a, "--quiet")).toMatchObject({ exitCode: 0, stdout: "" });
  });

  it.each([["[]"], ["", "--json"], ["", "--csv"], ["id,name\n", "--csv"]])(
    "that is missing from %j is a warning if many are expected",
    async (input, ...args) => {
      expect(await createInput(input, ...args)).toExit(0, "warning: the input has no records\n");
      expect(await createInput(input, ...args, "--quiet")).toPrint("");
    },
  );

  it("that begins before --from-line is not said to be missing", async () => {
    expect(await createInput(`${a}\n${b}\n`, "--from-line", "500")).toExit(
      0,
      "warning: no record begins at line 500 or after it (--from-line)\n",
    );
    expect(await createInput("[]", "--from-line", "1")).toMatchObject({
      stderr: "warning: the input has no records\n",
    });
  });
});

describe("a table", () => {
  it("omits empty cells, and keeps quoted cells as they are", async () => {
    const rows = ['1,"a ""b"", c",', '2,"",""', '3,"x\r\ny\n", z ', "", '4,a"'];
    const { exitCode, stdout } = await createInput(`id,name,tag\n${rows.join("\r\n")}`, "--csv");
    expect(exitCode).toBe(8);
    expect(await listStored()).toEqual([
      { id: 1n, name: 'a "b", c' },
      { id: 2n, name: "", tag: "" },
      { id: 3n, name: "x\r\ny\n", tag: " z " },
    ]);
    expect(parseLines(stdout).at(-1)).toMatchObject({
      record: 4,
      line: 8,
      error: { error: 40001 },
    });
  });

  it.each<[row: string, error: number, message: RegExp]>([
    ["1,a,b,c", 40001, /4 cells, but the header has 3/],
    ['1,"a" b,c', 40001, /quoted cell continues after its closing quote/],
    ['1,a "b",c', 40001, /a cell with quotes needs quotes around it/],
    [",a,b", 42201, /^column id is missing/],
    ['"",a,b', 42202, /^column id must be .*\(got empty\)$/],
    ["x,a,b", 42202, /^column id must be .*\(got x\)$/],
    ["1", 42204, /^column name is missing/],
    ["\ud800,a", 40002, /the row at line 2 is not valid UTF-8/],
  ])("with the row %j rejects this row, and creates the others", async (row, error, message) => {
    // One byte for each character keeps bytes that are not UTF-8.
    const input = Buffer.from(`id,name,tag\n${row}\n2,b\n`, "latin1");
    const bytes = error === 40002 ? input.fill(0xff, 12, 13) : input;
    expect(await createInput(bytes, "--csv")).toExit(8, summary(1, 0, 0, 1, 0), [
      { line: 2, status: "rejected", error: { error, message: expect.stringMatching(message) } },
      { line: 3, status: "created", plant: { name: "b" } },
    ]);
  });

  it("without the names of its columns is rejected as a whole", async () => {
    const problem = /standard input must begin with a row that names its columns once: id, name/;
    expect(await createInput("id,nme\n1,a\n", "--csv")).toExit(2, problem);
  });
});

describe("an input in another format than the flags", () => {
  it.each([
    "id,name\n1,a\n",
    "\uFEFFtag\tname\tid\r\n\ta\t1\r\n",
    '"ID";Name\n1;a\n',
    "id,name",
    "sep=;\nid;name\n",
  ])("that begins with the header %j needs --csv", async (text) => {
    const path = await writeInput("plants", text);
    const problem = `error: ${path} is a table: give it a name that ends in .csv, or use create --csv\n`;
    expect(await create([path])).toExit(2, problem);
    expect(await create(["--csv", path])).toMatchObject({ exitCode: 0 });
  });

  it("is rejected as a table by its name, and accepted on standard input", async () => {
    const text = `${a}\n${b}\n`;
    const path = await writeInput("plants.csv", text);
    const problem = /plants\.csv looks like JSON: .* names that end in \.csv or \.tsv are/;
    expect(await create([path])).toExit(2, problem);
    expect(await createInput(text)).toMatchObject({ exitCode: 0 });
  });

  it.each([`${a}\n`, `[\n${a}\n]`, ` {\n"id":1}`])("is rejected as a table: %j", async (text) => {
    const problem =
      "error: standard input looks like JSON: --csv, --delimiter and names that end in .csv or .tsv are for tables\n";
    expect(await createInput(text, "--csv")).toExit(2, problem);
  });
});

it.each([
  [["--delimiter", ";;", "-"], /--delimiter must be tab, or one ASCII character/],
  [["--delimiter", '"', "-"], /--delimiter must be tab, or one ASCII character/],
  [["--delimiter", "\\t", "-"], /or one ASCII character other than a quote \(got "\\t"\)/],
  [
    ["--id", "1", "--name", "a", "--fail-fast", "--dry-run"],
    /--fail-fast is for files and standard input, not for --id\/--name\/--tag/,
  ],
  [["--id", "1", "--name", "a", "--csv"], /^error: --csv is for files/],
  [["--id", "1", "--name", "a", "--rejects", "x"], /^error: --rejects is for files/],
  [["--rejects", "", "-"], /--rejects must be a file, .*\(got ""\)/],
  [["--rejects", "-", "-"], /--rejects must be a file, because stdout has the results \(got "-"\)/],
  [["--concurrency", "0", "-"], /--concurrency must be a whole number from 1 to 1024 \(got "0"\)/],
  [["--from-line", "0", "-"], /--from-line must be a line number, at least 1/],
])("contradicting or invalid options are rejected: %j", async (args, message) => {
  expect(await create([...args])).toExit(2, message);
});
