/** `plantstore create` with many plants, against a real server. */
import { readFile, stat, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
} from "../../../client/scripted-server.ts";
import { startServer, type TestServer, testToken } from "../../../helpers/plant-server.ts";
import {
  type CliOptions,
  containing,
  parseLines,
  runCli,
  startCli,
} from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

let server: TestServer;
let directory: string;
/** A file for rejected records. */
let rejects: string;
beforeEach(async () => {
  server = await startServer();
  directory = await createTemporaryDirectory();
  rejects = join(directory, "rejects");
});
afterEach(() => server.close());

function create(stdin: string | Uint8Array, ...args: readonly string[]) {
  return runCli(["create", "-", ...args], { server, stdin });
}

/** Starts a create whose input stays open after the text. */
function startTyping(text: string, args: readonly string[] = [], options: CliOptions = {}) {
  const stdin = new PassThrough();
  const run = startCli(["create", ...args], { server, stdin, ...options });
  stdin.write(text);
  return { ...run, stdin };
}

const readRejects = (): Promise<string> => readFile(rejects, "utf8");

async function writeInput(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

const a = '{"id":1,"name":"a"}';
const b = '{"id":2,"name":"b","tag":"pot"}';
const createdA = { record: 1, line: 1, id: 1, status: "created", plant: { name: "a" } };
const lineOfA = `${JSON.stringify(createdA)}\n`;

/** Returns records like {@link a} as CSV. */
function toTable(records: readonly string[]): string {
  const rows = records.map((record) => {
    const { id, name } = JSON.parse(record) as { readonly id: number; readonly name: string };
    return `${id},${name}\n`;
  });
  return `id,name\n${rows.join("")}`;
}

/** The end of the messages of a run that can be resumed. @param command after `plantstore create` */
function resumeWith(command: string, how = "Resume"): string {
  const input = command.endsWith(" -") ? " with the same input" : "";
  return `${how}${input}:\n  plantstore create ${command}\n`;
}

/** Matches the messages of a run that ended early after some plants were created. */
function endEarly(created: number, problem: string): RegExp {
  const text = problem.replaceAll(/[^\w\s]/g, String.raw`\$&`);
  const counts = summary(created, 0, 0, 0, 0, 0).source;
  return new RegExp(`${counts}error: ${text}$`);
}

/** Matches exactly one summary line. */
function summary(...counts: readonly number[]): RegExp {
  const words = ["created", "unchanged", "replaced", "rejected", "failed", "unfinished"];
  const text = counts.map((count, index) => `${words[index]} ${count}`).join(", ");
  return new RegExp(`^${text} in [\\d.]+ s(?: \\([\\d,]+/s\\))?\\n`);
}

describe("many plants", () => {
  it("have a line with their result each, in the order of the input", async () => {
    const broken = '{"id":3';
    const other = '{"id":1,"name":"other"}';
    const { exitCode, stdout, stderr } = await create([a, b, broken, a, other, ""].join("\n"));
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
    const { stdout } = await create(
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
    await server.close();
    server = await startServer({ onConflict: "replace" });
    const names = Array.from({ length: 50 }, (_, index) => `name ${index}`);
    const { exitCode, stdout } = await create(
      names.map((name) => `{"id":1,"name":"${name}"}\n`).join(""),
    );
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
    const result = await runCli(["create", input, ...flags], { server, stdin: text });
    expect(result).toMatchObject({ exitCode: 0 });
    expect(await server.store.list({ limit: 10 })).toEqual([
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
    const options = { server, stdin: b };
    expect(await runCli(["create", ...paths], options)).toMatchObject({ exitCode: 0 });
    const stored = await server.store.list({ limit: 10 });
    expect(stored.map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
    const result = await runCli(["create", ...paths, "--rejects", rejects], options);
    expect(result).toExit(2, /^error: --rejects is for inputs of one format: run create for each/);
  });

  it("of several files name their file", async () => {
    const first = await writeInput("first.json", `[${a}]`);
    const second = await writeInput("second.json", `\n${b}`);
    expect(await runCli(["create", first, second], { server })).toPrint([
      { record: 1, file: first, line: 1, status: "created" },
      { record: 2, file: second, line: 2, status: "created" },
    ]);
  });

  it("of several files are not sent if one file is missing", async () => {
    const path = await writeInput("plants.json", a);
    const missing = join(directory, "missing.json");
    const result = await runCli(["create", path, missing], { server });
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await server.store.list({ limit: 1 })).toEqual([]);
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
    expect(await create(`${a}\n{}\n${b}\n`, "--quiet")).toExit(8, summary(2, 0, 0, 1, 0), [
      { record: 2, line: 2, status: "rejected" },
    ]);
    expect(await create(`${a}\n${b}\n`, "--quiet")).toPrint("");
  });

  it("with --quiet print usage errors", async () => {
    const problem =
      /^created 1, .*\nerror: standard input ends inside the array that begins at line 1: [^\n]*\nCorrect the input, then resume with the same input:\n.* --from-line 1 --quiet -\n$/;
    expect(await create(`[${a},`, "--quiet")).toExit(2, problem);
  });
});

describe("a single plant", () => {
  it.each([`${a}\n`, `\n  {"id":1,\n"name":"a"}`])("%j prints just the Plant", async (input) => {
    expect(await create(input)).toMatchObject({ exitCode: 0, stdout: '{"name":"a"}\n' });
  });

  it.each<[what: string, input: string, args: readonly string[]]>([
    ["with --json", a, ["--json"]],
    ["with --from-line", a, ["--from-line", "1"]],
    ["in an array", `[${a}]`, []],
  ])("gets a line %s", async (_what, input, args) => {
    expect(await create(input, ...args)).toPrint(lineOfA);
  });

  describe.each([
    ["plants.ndjson", (records: readonly string[]) => records.join("\n")],
    ["plants.JSONL", (records: readonly string[]) => records.join("\n")],
    ["plants.csv", toTable],
    ["plants.tsv", (records: readonly string[]) => toTable(records).replaceAll(",", "\t")],
  ])("in a file that is called %s", (name, toText) => {
    const createFile = async (...records: readonly string[]) =>
      runCli(["create", await writeInput(name, toText(records))], { server });

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
      expect(await runCli(["create", path], { server })).toPrint('{"name":"a"}\n');
      const missing = await runCli(["create", await writeInput(name, "")], { server });
      expect(missing).toExit(3, /^error 40003: /, [{ error: 40003 }]);
    }
  });

  it("with --quiet prints nothing", async () => {
    expect(await create(a, "--quiet")).toMatchObject({ exitCode: 0, stdout: "" });
  });

  it.each([["[]"], ["", "--json"], ["", "--csv"], ["id,name\n", "--csv"]])(
    "that is missing from %j is a warning if many are expected",
    async (input, ...args) => {
      expect(await create(input, ...args)).toExit(0, "warning: the input has no records\n");
      expect(await create(input, ...args, "--quiet")).toPrint("");
    },
  );

  it("that begins before --from-line is not said to be missing", async () => {
    expect(await create(`${a}\n${b}\n`, "--from-line", "500")).toExit(
      0,
      "warning: no record begins at line 500 or after it (--from-line)\n",
    );
    expect(await create("[]", "--from-line", "1")).toMatchObject({
      stderr: "warning: the input has no records\n",
    });
  });
});

describe("a table", () => {
  it("omits empty cells, and keeps quoted cells as they are", async () => {
    const rows = ['1,"a ""b"", c",', '2,"",""', '3,"x\r\ny\n", z ', "", '4,a"'];
    const { exitCode, stdout } = await create(`id,name,tag\n${rows.join("\r\n")}`, "--csv");
    expect(exitCode).toBe(8);
    expect(await server.store.list({ limit: 10 })).toEqual([
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
    expect(await create(bytes, "--csv")).toExit(8, summary(1, 0, 0, 1, 0), [
      { line: 2, status: "rejected", error: { error, message: expect.stringMatching(message) } },
      { line: 3, status: "created", plant: { name: "b" } },
    ]);
  });

  it("without the names of its columns is rejected as a whole", async () => {
    const problem = /standard input must begin with a row that names its columns once: id, name/;
    expect(await create("id,nme\n1,a\n", "--csv")).toExit(2, problem);
  });
});

describe("--rejects", () => {
  it("of several tables has the header of each, and can be corrected and sent again", async () => {
    const paths = [
      await writeInput("first.csv", "id,name\n2,b\nx,a\n,\n"),
      await writeInput("second.csv", '\uFEFF"name";"ID"\r\nc;y\r\n'),
    ];
    const corrected = join(directory, "rejects.csv");
    const result = await runCli(["create", ...paths, "--rejects", corrected], { server });
    expect(result).toExit(8, summary(1, 0, 0, 2, 0), containing('"line":2'));
    const text = await readFile(corrected, "utf8");
    expect(text).toBe('id,name\nx,a\n"name";"ID"\r\nc;y\r\n');
    expect(await runCli(["create", corrected], { server })).toExit(8, summary(0, 0, 0, 2, 0), [
      { line: 2, error: { error: 42202, message: containing("(got x)") } },
      { line: 4, error: { error: 42202, message: containing("(got y)") } },
    ]);
    await writeFile(corrected, text.replace("x", "1").replace("y", "3"));
    expect(await runCli(["create", corrected], { server })).toMatchObject({ exitCode: 0 });
    const stored = await server.store.list({ limit: 10 });
    expect(stored.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  it("writes the records that were not created, byte for byte", async () => {
    const broken = ['{"id":"1",  "name":"é\\u00e9"}', "{", '{"id":1,"name":"other"}'];
    await create([a, ...broken, b].join("\r\n"), "--rejects", rejects);
    expect(await readRejects()).toBe(broken.map((line) => `${line}\r\n`).join(""));
  });

  it("creates a file that only its owner can read", async () => {
    await create('{"id":1}', "--rejects", rejects);
    expect((await stat(rejects)).mode & 0o777).toBe(0o600);
  });

  it("writes a single plant too", async () => {
    expect(await create('{"id":1}', "--rejects", rejects)).toMatchObject({ exitCode: 3 });
    expect(await readRejects()).toBe('{"id":1}\n');
  });

  it("of a table begins with its header", async () => {
    await create("\uFEFFid,name\r\n1,a\r\nx,b\r\n2,c,d\r\n", "--csv", "--rejects", rejects);
    expect(await readRejects()).toBe("id,name\r\nx,b\r\n2,c,d\r\n");
    const again = await runCli(["create", "--csv", rejects], { server });
    expect(again).toExit(8, summary(0, 0, 0, 2, 0), [{ line: 2 }, { line: 3 }]);
  });

  it("writes records in any layout, each on a line, which have the same errors when they are sent again", async () => {
    const records = ["  { }", '{"id":1}', '{\n  "id": "2",\n  "name": "b"\n}'];
    const input = `[${records.join(",\n")},${a}]`;
    const first = await create(input, "--rejects", rejects);
    const again = await runCli(["create", rejects], { server });
    const errorsOf = (stdout: string): unknown[] =>
      parseLines(stdout).map((line) => (line as { error?: { error: number } }).error?.error);
    expect(errorsOf(first.stdout)).toEqual([42201, 42204, 42202, undefined]);
    expect(errorsOf(again.stdout)).toEqual([42201, 42204, 42202]);
    expect(await readRejects()).toBe('{ }\n{"id":1}\n{   "id": "2",   "name": "b" }\n');
  });

  it("has each record once after an outage and a resume", async () => {
    const input = await writeInput("plants", '{}\n{"id":2,"name":"b"}\n[]\n{"id":4}\n');
    const args = ["create", input, "--rejects", rejects];
    const closed = { url: await findClosedUrl() };
    const first = await runCli([...args, "--retry", "2"], { server: closed });
    const command = `create --from-line 2 --rejects ${rejects} --retry 2 ${input}`;
    const advice = `Resume, and add to ${rejects}:\n  plantstore ${command}\n`;
    expect(first).toExit(6, containing(advice), containing('"line":1'));
    expect(await readRejects()).toBe("{}\n");
    await runCli(command.split(" "), { server });
    expect(await readRejects()).toBe('{}\n[]\n{"id":4}\n');
  });

  it.each(["earlier record\n", "edited by hand"])(
    "extends its file with --from-line after %j, and replaces it otherwise",
    async (earlier) => {
      const path = await writeInput("rejects", earlier);
      const input = `${a}\n{}\n[]\n`;
      await create(input, "--rejects", path, "--from-line", "3");
      expect(await readFile(path, "utf8")).toBe(`${earlier.trimEnd()}\n[]\n`);
      await create(input, "--rejects", path);
      expect(await readFile(path, "utf8")).toBe("{}\n[]\n");
    },
  );

  it("is not replaced by a plant without a token", async () => {
    const path = await writeInput("rejects", "{}\n");
    const env = { PLANTSTORE_URL: server.url };
    const args = ["create", "-", "--rejects", path];
    expect(await runCli(args, { stdin: a, env })).toMatchObject({ exitCode: 4 });
    expect(await readFile(path, "utf8")).toBe("{}\n");
  });

  it("extends its file with --from-line 1 of another input, as the end of a run advises", async () => {
    const first = await writeInput("first", "{}\n");
    const run = startTyping(`${a}\n`, [first, "-", "--rejects", rejects]);
    await run.saw('"created"');
    run.signal("SIGINT");
    expect((await run.finished).stderr).toContain(
      `, and add to ${rejects}:\n  plantstore create --from-line 2 --rejects ${rejects} -\n`,
    );
    await create('{"id":2}\n', "--from-line", "1", "--rejects", rejects);
    expect(await readRejects()).toBe('{}\n{"id":2}\n');
  });

  it("lacks a record that is too large, and warns", async () => {
    const tooLong = `{"id":1,"name":"${"x".repeat(64 * 1024 * 1024)}"}`;
    const { exitCode, stdout, stderr } = await create(`${tooLong}\n${a}\n{}`, "--rejects", rejects);
    expect(exitCode).toBe(8);
    expect(stdout).toContain('"error":41300');
    expect(stderr).toContain(
      `warning: ${rejects} lacks the record at line 1 of standard input: it is too large\n`,
    );
    expect(await readRejects()).toBe("{}\n");
  });

  it("is empty without a reject, also if an older file is there", async () => {
    await writeFile(rejects, "older\n");
    expect(await create(a, "--rejects", rejects)).toMatchObject({ exitCode: 0 });
    expect(await readRejects()).toBe("");
  });

  it("is rejected if it is an input", async () => {
    const path = await writeInput("plants", `${a}\n{}\n`);
    const result = await runCli(["create", path, "--rejects", path], { server });
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await readFile(path, "utf8")).toBe(`${a}\n{}\n`);
  });

  it.runIf(process.platform === "linux")(
    "that is full ends the run after the results of earlier records",
    async () => {
      const problem =
        /error: \/dev\/full cannot be written: no space left on device\nResume with .*\n  plantstore create --from-line 2 --rejects \/dev\/full -\n$/;
      expect(await create(`${a}\n{}\n`, "--rejects", "/dev/full")).toExit(2, problem, lineOfA);
    },
  );

  it("that cannot be written ends the run before anything is sent", async () => {
    const result = await create(`${a}\n${b}\n`, "--rejects", directory);
    expect(result).toExit(2, /^error: .* cannot be written: it is a directory/);
    expect(await server.store.list({ limit: 1 })).toEqual([]);
  });
});

describe("a run that ends early", () => {
  const line = (id: number): string => `{"id":${id},"name":"a"}\n`;

  it("with --fail-fast sends nothing after the rejected record, which the hint names", async () => {
    const run = startTyping(`${line(1)}{}\n${line(3)}`, ["--fail-fast", "--concurrency", "1"]);
    const result = await run.finished;
    expect(result).toExit(8, summary(1, 0, 0, 1, 0, 0), [
      { line: 1 },
      { line: 2, status: "rejected" },
    ]);
    expect(result.stderr).toContain(
      `stopped at the first rejected or failed record (--fail-fast)\n${resumeWith("--from-line 2 --fail-fast --concurrency 1 -", "Correct line 2, then resume")}`,
    );
    expect(await server.store.get(3n)).toBeUndefined();
    expect(run.stdin.destroyed).toBe(true);
  });

  it("with --fail-fast and --rejects resumes after the record, which the file has", async () => {
    const input = `${line(1)}{}\n${line(3)}`;
    const { stderr } = await create(
      input,
      "--fail-fast",
      "--concurrency",
      "1",
      "--rejects",
      rejects,
    );
    expect(stderr).toContain(
      `Resume with the same input, and add to ${rejects}:\n  plantstore create --from-line 3 --fail-fast --rejects ${rejects} --concurrency 1 -\n`,
    );
    expect(await readRejects()).toBe("{}\n");
  });

  it.each([
    ["lines", [], `${line(1)}{}`],
    ["a table", ["--csv"], "id,name\n,a"],
  ])("in %s without a last line break names the last record's line", async (_what, args, input) => {
    const { stderr } = await create(input, "--fail-fast", ...args);
    expect(stderr).toContain(" --from-line 2 ");
  });

  it("by an invalid array exits with 2 and advises to correct it", async () => {
    const problem = `invalid JSON: expected "," or "]" but found "{" (standard input:4:1)\n${resumeWith("--from-line 4 -", "Correct the input, then resume")}`;
    const result = await create(`[${line(1)},${line(2)}\n${line(3)}]`);
    expect(result).toExit(2, endEarly(2, problem), [{ line: 1 }, { line: 2 }]);
  });

  it("by a truncated record exits with 2 and names the place", async () => {
    const problem =
      "error: invalid JSON: expected a closing quotation mark but found the end (standard input:3:12)\nCorrect the input";
    expect(await create(`\n[${a},\n{"id":2,"na`)).toExit(2, containing(problem), [{ line: 2 }]);
  });

  it("by an input that fails after a single record sends the record", async () => {
    const run = startTyping(`${a}\n`, [], { terminals: { stderr: true } });
    await run.saw("1 records");
    run.stdin.destroy(new Error("the pipe broke"));
    const problem = containing("the pipe broke\nResume with the same input:\n");
    expect(await run.finished).toExit(2, problem, lineOfA);
  });

  it("can be resumed with --from-line, which skips records before that line", async () => {
    expect(await create(`${line(1)}${line(2)}${line(3)}`, "--from-line", "2")).toPrint([
      { record: 1, line: 2 },
      { record: 2, line: 3 },
    ]);
    expect(await server.store.get(1n)).toBeUndefined();
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "by %s waits for the plants in flight, prints them, and exits with %i",
    async (signal, code) => {
      const run = startTyping(line(1), ["--json"]);
      await run.saw('"line":1');
      run.stdin.write(`${line(2)}${line(3)}`);
      await run.saw('"line":3');
      run.signal(signal);
      const problem = `stopped by ${signal}\n${resumeWith("--from-line 4 --json -")}`;
      const messages = endEarly(3, problem);
      expect(await run.finished).toExit(code, messages, [{ line: 1 }, { line: 2 }, { line: 3 }]);
      expect(run.stdin.destroyed).toBe(true);
    },
  );

  describe("after a failed record", () => {
    /** Ends a run with Ctrl-C after the store was unavailable for the second of three records only. */
    async function endAfterFailure(args: readonly string[], options: CliOptions = {}) {
      const scripted = await openScriptedServer((response) => {
        const isUnavailable = scripted.requests.at(-1)?.body.includes('"id":2,') === true;
        (isUnavailable ? errorResponse(50_301) : json(200, '{"name":"a"}'))(response);
      });
      const flags = ["--json", "--retry", "1", ...args];
      const run = startTyping(line(1) + line(2) + line(3), flags, { ...options, server: scripted });
      await run.saw('"line":3');
      run.signal("SIGINT");
      return run.finished;
    }
    const results = [{ line: 1 }, { line: 2, status: "failed" }, { line: 3 }];

    it("resumes with this record", async () => {
      const problem =
        /failed 1,\s+unfinished 0\s+in [^]*SIGINT\nResume with the same input:\n {2}plantstore create --from-line 2 --json --retry 1 -\n$/;
      // The command to copy is one line, whatever the width.
      const narrow = { terminals: { stderr: true }, columns: 40 };
      expect(await endAfterFailure([], narrow)).toExit(130, problem, results);
    });

    it("resumes after all records if --rejects has this record, and names the file", async () => {
      const problem = `, and add to ${rejects}:\n  plantstore create --from-line 4 --json --rejects ${rejects} --retry 1 -\n`;
      const result = await endAfterFailure(["--rejects", rejects]);
      expect(result).toExit(130, containing(problem), results);
      expect(await readRejects()).toBe(line(2));
    });
  });

  it("by Ctrl-C on a terminal shows that it waits for plants in flight", async () => {
    const sockets: Socket[] = [];
    const url = await openRawServer((socket) => void sockets.push(socket));
    const options = { stdin: line(1) + line(2), terminals: { stderr: true } };
    const run = startCli(["create", "-"], { server: { url }, ...options });
    await run.saw("records");
    run.signal("SIGINT");
    await run.saw("waiting for plants in flight; Ctrl-C again stops at once");
    for (const socket of sockets) socket.destroy();
    expect((await run.finished).exitCode).toBe(130);
  });

  it("by Ctrl-C while the store is unavailable reports no record, and advises to start again", async () => {
    const unavailable = await openScriptedServer(errorResponse(50_301));
    const stdin = Array.from({ length: 100 }, (_, id) => line(id)).join("");
    const options = { server: unavailable, stdin, terminals: { stderr: true }, columns: 1000 };
    const run = startCli(["create", "-", "--retry", "100"], options);
    await run.saw("retrying");
    run.signal("SIGINT");
    const problem =
      /failed 0, unfinished 100[^]*: stopped by SIGINT\nRepeat the run with the same input:\n {2}plantstore create --retry 100 -\n$/;
    expect(await run.finished).toExit(130, problem);
  });

  it.each<[end: string, count: number, open: () => Promise<string>, code: number, problem: RegExp]>(
    [
      [
        "a rejected token, whose source it names,",
        1000,
        () => Promise.resolve(server.url),
        4,
        /^created 0, .*unfinished \d+ in .*\nerror 40102: .*the token came from PLANTSTORE_TOKEN; request [\w-]+\)\nReplace the token, then repeat the run with the same input:\n {2}plantstore create --retry 1 -\n$/,
      ],
      [
        "a missing server",
        2,
        findClosedUrl,
        6,
        /unfinished 2 in .*\nerror: .*after 2 attempts.*\nStart a server, .*\n {2}plantstore serve .*\nRepeat the run with the same input:\n {2}plantstore create --retry 1 -\n$/,
      ],
      [
        "a lost connection",
        2,
        () => openRawServer((socket) => void socket.end()),
        6,
        /^warning: [^\n]+, retrying\ncreated 0, .*\nerror: lost the connection to [^;]+: the plant may or may not exist\nRepeat the run with the same input:\n {2}plantstore create --retry 1 -\n$/,
      ],
    ],
  )("by %s advises once to repeat the command", async (_end, count, open, code, problem) => {
    const stdin = Array.from({ length: count }, (_, id) => line(id)).join("");
    const options = { server: { url: await open() }, env: { PLANTSTORE_TOKEN: "wrong" }, stdin };
    expect(await runCli(["create", "-", "--retry", "1"], options)).toExit(code, problem);
  });

  it("by a closed output exits with 141, and names the line to resume", async () => {
    const run = startTyping(line(1), ["--json"]);
    await run.saw('"line":1');
    run.closeStdout();
    run.stdin.write(line(2));
    const problem = `the output was closed\n${resumeWith("--from-line 2 --json -")}`;
    expect(await run.finished).toExit(141, endEarly(2, problem), containing('"line":1'));
    expect(run.stdin.destroyed).toBe(true);
  });

  it("by an input that fails exits with 2 after the results of earlier records", async () => {
    const run = startTyping(line(1), ["--json"]);
    await run.saw('"line":1');
    run.stdin.destroy(new Error("the pipe broke"));
    const problem = `standard input cannot be read: the pipe broke\n${resumeWith("--from-line 2 --json -")}`;
    expect(await run.finished).toExit(2, endEarly(1, problem), [{ line: 1 }]);
  });
});

describe("an unavailable store", () => {
  const start = async (args: readonly string[], options: CliOptions = {}) => {
    const unavailable = await openScriptedServer(errorResponse(50_301));
    const all = { server: unavailable, stdin: `${a}\n${b}\n`, ...options };
    const { stderr } = await runCli(["create", "--retry", "1", ...args], all);
    const warning = `warning: ${unavailable.url} is unavailable (error 50301), retrying\n`;
    return { parts: stderr.split(warning), stderr };
  };

  it("is a warning before the first retry of a run, in pipes", async () => {
    const { parts } = await start([]);
    expect(parts).toEqual(["", expect.stringContaining("error 50301: message of 50301")]);
    const options = { terminals: { stderr: true }, columns: 400, isPiped: true };
    const { parts: ofTerminal } = await start(["--no-color"], options);
    expect(ofTerminal).toHaveLength(2);
  });

  it("causes no warning with --quiet, and with --verbose, which prints each request", async () => {
    for (const flag of ["--quiet", "--verbose"]) {
      expect((await start([flag])).stderr).not.toContain("retrying");
    }
  });
});

describe("a terminal", () => {
  const terminals = { stderr: true };

  it("shows that the store is unavailable, and no remaining time after the whole input is read", async () => {
    const path = await writeInput("plants.json", `${a}\n${b}\n`);
    const unavailable = await openScriptedServer(errorResponse(50_301));
    const options = { server: unavailable, terminals };
    const run = startCli(["create", path, "--retry", "100"], options);
    await run.saw(`${unavailable.url} is unavailable (error 50301), retrying: 0 %, 0 records, 0/s`);
    expect(run.stderr()).not.toContain("left");
    run.signal("SIGINT");
    expect((await run.finished).exitCode).toBe(130);
  });

  it("shows the progress, and at the end the summary", async () => {
    const run = startTyping(`${a}\n${b}\n{}\n`, [], { terminals });
    await run.saw("3 records, 1 rejected, ");
    run.stdin.end();
    expect((await run.finished).stderr).toMatch(
      /created 2, unchanged 0, replaced 0, rejected 1, failed 0 in [\d.]+ s(?: \(\d\/s\))?\n$/,
    );
  });

  it("shows no progress if stdout is a pipe, whose reader may write there too", async () => {
    const run = startTyping(`${a}\n${b}\n`, [], { terminals, isPiped: true });
    await run.saw('"record":2');
    // Progress that begins later is there already.
    const shown = startTyping(`${a}\n${b}\n`, [], { terminals });
    await shown.saw("2 records, ");
    expect(run.stderr()).not.toContain("2 records, ");
    for (const each of [run, shown]) {
      each.stdin.end();
      await each.finished;
    }
  });

  it("on which the input is typed shows no progress", async () => {
    const typed = { terminals: { stdin: true, stderr: true } };
    const run = startTyping(`${a}\n`, ["--json", "-"], typed);
    await run.saw('"status":"created"');
    // Progress that begins later is there already.
    const piped = startTyping(`${a}\n`, ["--json", "-"], { terminals });
    await piped.saw("1 records, ");
    expect(run.stderr()).toBe(
      `Server: ${server.url}\nreading plants as JSON from the terminal: end with Ctrl-D\n`,
    );
    for (const each of [run, piped]) {
      each.stdin.end();
      expect(await each.finished).toMatchObject({ exitCode: 0 });
    }
  });

  it("shows the share of the records that have a result", async () => {
    const pending: (() => void)[] = [];
    const scripted = await openScriptedServer((response) => {
      const reply = (): void => json(200, '{"name":"a"}')(response);
      if (scripted.requests.at(-1)?.body.includes('"id":2,') === true) pending.push(reply);
      else reply();
    });
    const path = await writeInput("plants.json", `${a}\n${b.replace(',"tag":"pot"', "")}\n`);
    const run = startCli(["create", path], { server: scripted, terminals });
    await run.saw("47 %, 1 records");
    for (const reply of pending) reply();
    expect((await run.finished).exitCode).toBe(0);
  });

  it("shows nothing in CI", async () => {
    const options = { server, env: { CI: "true" }, stdin: `${a}\n${b}\n`, terminals };
    const stderr = `Server: ${server.url}\n`;
    expect(await runCli(["create"], options)).toMatchObject({ exitCode: 0, stderr });
  });

  it("shows only the summary with --quiet", async () => {
    const options = { server, stdin: `${a}\n${b}\n`, terminals };
    const result = await runCli(["create", "--quiet"], options);
    expect(result).toExit(
      0,
      /^\S+✓\S+ created 2, unchanged 0, replaced 0, rejected 0, failed 0 in [^\n]*\n$/,
    );
  });

  it("shows only rejected and failed records if stdout is a terminal", async () => {
    const options = { server, stdin: `${a}\n{}\n${b}\n`, terminals: { stdout: true } };
    const { stdout, stderr } = await runCli(["create"], options);
    expect(stdout).toMatch(/^line 2 {2}rejected 42201: id is missing[^]*name is missing/);
    expect(stdout.match(/line \d/g)).toHaveLength(1);
    expect(stderr).toMatch(summary(2, 0, 0, 1, 0));
  });

  it("shows rejected records as sentences, with their files and requests", async () => {
    const moss = '{"id":1,"name":"moss"}';
    const paths = [await writeInput("a.json", `${a}\n${moss}\n`), await writeInput("b.json", moss)];
    const options = { server, terminals: { stdout: true } };
    const { stdout } = await runCli(["create", "--quiet", ...paths, "--concurrency", "1"], options);
    const lines = stdout.replaceAll(/request [^)]+/g, "request R");
    const sentence =
      "id 1  rejected 40900: id 1 belongs to a different plant, which was not changed: choose another id (request R)";
    expect(lines).toBe(`${paths[0]} line 2  ${sentence}\n${paths[1]} line 1  ${sentence}\n`);
  });

  it("escapes control characters in the sentences", async () => {
    const message = "\u001b[31mred\u0085";
    const error = JSON.stringify({ error: 40900, message });
    const rejecting = await openScriptedServer(json(400, error));
    const options = { stdin: `${a}\n${b}\n`, terminals: { stdout: true } };
    const { stdout } = await runCli(["create"], { server: rejecting, ...options });
    expect(stdout).toContain(String.raw`line 1  id 1  rejected 40900: \u001b[31mred\u0085` + "\n");
  });

  it("shows records as JSON with --json, and with --quiet only the rejected ones", async () => {
    const options = { server, stdin: `${a}\n{}\n${b}\n`, terminals: { stdout: true } };
    expect(parseLines((await runCli(["create", "--json"], options)).stdout)).toHaveLength(3);
    const { stdout } = await runCli(["create", "--json", "--quiet"], options);
    expect(parseLines(stdout)).toMatchObject([{ record: 2, status: "rejected" }]);
  });
});

describe("a first plant", () => {
  it("is sent when it arrives, and its output waits for a second one", async () => {
    const run = startTyping(`${a}\n`, [], { terminals: { stderr: true } });
    await run.saw("1 records");
    expect(await server.store.list({ limit: 9 })).toHaveLength(1);
    expect(run.stdout()).toBe("");
    run.stdin.write(`${b}\n`);
    await run.saw('"record":2');
    run.stdin.end();
    expect(parseLines((await run.finished).stdout)).toHaveLength(2);
  });

  it("is one plant if it is all that has arrived at a signal", async () => {
    const run = startTyping(`${a}\n`, [], { terminals: { stderr: true } });
    await run.saw("1 records");
    run.signal("SIGINT");
    const problem = /created plant 1\n[^\n]*error[^\n]*: stopped by SIGINT\n$/;
    expect(await run.finished).toExit(130, problem, '{"name":"a"}\n');
  });

  it.each([
    ["a rejected token", a, "wrong", 4, 40102],
    ["--fail-fast", '{"id":1}', testToken, 3, 42204],
  ])("is one plant if %s ends the input", async (_what, record, token, exit, error) => {
    const stdin = new PassThrough();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: token };
    const run = startCli(["create", "--fail-fast"], { env, stdin });
    stdin.write(`${record}\n`);
    const { exitCode, stdout } = await run.finished;
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: exit, error });
  });
});

describe("unknown members", () => {
  const tga = (id: number): string => `{"id":${id},"name":"a","tga":"pot"}\n`;

  it("are reported once for each name, with the closest known name", async () => {
    const more = '{"id":9,"Name":"b","name":"c","colour":"green"}\n';
    const { exitCode, stderr } = await create(tga(1) + tga(2) + more + tga(3));
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `warning: record 1 (line 1): unknown member "tga": did you mean "tag"?
warning: record 3 (line 3): unknown member "Name": did you mean "name"?
warning: record 3 (line 3): unknown member "colour": a plant has id, name and tag
`,
    });
  });

  it.each([
    ["x", "a plant has id, name and tag"],
    ["i", "a plant has id, name and tag"],
    ["ta", 'did you mean "tag"?'],
    ["ID", 'did you mean "id"?'],
  ])("called %s have the advice: %s", async (member, advice) => {
    const { stderr } = await create(`{"id":1,"name":"a","${member}":1}`);
    expect(stderr).toBe(`warning: record 1 (line 1): unknown member "${member}": ${advice}\n`);
  });

  it("of a single plant are reported too", async () => {
    const warning = 'warning: record 1 (line 1): unknown member "tga": did you mean "tag"?\n';
    expect(await create(tga(1))).toExit(0, warning, '{"name":"a"}\n');
  });

  it("are not reported with --quiet", async () => {
    expect(await create(tga(1) + tga(2), "--quiet")).toMatchObject({ stderr: "" });
  });

  it("are rejected with --strict before anything is sent", async () => {
    expect(await create(tga(1) + a, "--strict")).toExit(8, summary(1, 0, 0, 1, 0), [
      {
        record: 1,
        id: 1,
        status: "rejected",
        error: { message: 'unknown member "tga": did you mean "tag"? (--strict)' },
      },
      { record: 2, status: "created" },
    ]);
    // Not an Error, because no rule of the service is broken.
    expect(await create(tga(3), "--strict")).toEqual({
      exitCode: 3,
      stdout: "",
      stderr: 'error: unknown member "tga": did you mean "tag"? (--strict) (in standard input)\n',
    });
    expect(await server.store.list({ limit: 9 })).toHaveLength(1);
  });

  it("of a table are columns with cells", async () => {
    const { stderr } = await create("id,name,tga\n1,a,\n2,b,pot\n", "--csv");
    expect(stderr).toBe('warning: record 2 (line 3): unknown column "tga": did you mean "tag"?\n');
  });

  it("cannot fill the terminal or the memory with their names", async () => {
    const lines = Array.from({ length: 100 }, (_, id) => `{"id":${id},"name":"a","x${id}":1}\n`);
    const { stderr } = await create(lines.join(""));
    expect(stderr.split("\n")).toHaveLength(11);
  });
});

describe("--dry-run", () => {
  const nowhere: CliOptions = { env: { PLANTSTORE_URL: "http://127.0.0.1:1" } };
  const check = (stdin: string, ...args: readonly string[]) =>
    runCli(["create", "--dry-run", ...args], { ...nowhere, stdin });

  it("checks all records with the rules of the service, without a server and a token", async () => {
    const result = await check(`${a}\n{"id":2}\n${a}\n`);
    const counts = /^valid 2, rejected 1, failed 0 in [^\n]*; nothing was sent\n$/;
    expect(result).toExit(8, counts, containing('"status":"rejected"'));
    expect(parseLines(result.stdout)).toEqual([
      { record: 1, line: 1, id: 1, status: "valid", plant: { name: "a" } },
      {
        record: 2,
        line: 2,
        id: 2,
        status: "rejected",
        error: { error: 42204, message: "name is missing: add a string" },
      },
      { record: 3, line: 3, id: 1, status: "valid", plant: { name: "a" } },
    ]);
  });

  it("checks a single plant in the input or in flags", async () => {
    const sentence = "✓ plant 1 is valid; nothing was sent\n";
    expect(await check(a)).toExit(0, sentence, '{"name":"a"}\n');
    expect(await check('{"id":1}')).toMatchObject({ exitCode: 3 });
    const flags = await runCli(["create", "--dry-run", "--id", "1", "--name", "a"], nowhere);
    expect(flags).toExit(0, sentence, '{"name":"a"}\n');
    expect(await check(a, "--quiet")).toPrint("");
  });

  it("does not read certificates", async () => {
    const args = ["--url", "https://plants.example", "--cacert", "/missing"];
    for (const stdin of [a, `${a}\n${b}\n`]) {
      expect(await check(stdin, ...args)).toMatchObject({ exitCode: 0 });
    }
    const flags = ["create", "--dry-run", "--id", "1", "--name", "a", ...args];
    expect(await runCli(flags)).toMatchObject({ exitCode: 0 });
  });

  it("says that nothing was sent although all records are valid", async () => {
    const counts = /^✓ valid 2, rejected 0, failed 0 in [^\n]*; nothing was sent\n$/;
    expect(await check(`${a}\n${b}\n`)).toExit(0, counts, [{ id: 1 }, { id: 2 }]);
    expect(await check(`${a}\n${b}\n`, "--quiet")).toPrint("");
  });

  it("stops with --fail-fast, and writes rejects", async () => {
    const input = `${a}\n{}\n${b}\n`;
    const { stdout, stderr } = await check(input, "--fail-fast", "--rejects", rejects);
    expect(parseLines(stdout)).toMatchObject([{ status: "valid" }, { status: "rejected" }]);
    expect(stderr).toMatch(/^valid 1, rejected 1, failed 0 in /);
    expect(await readRejects()).toBe("{}\n");
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
    expect(await runCli(["create", path], { server })).toExit(2, problem);
    expect(await runCli(["create", "--csv", path], { server })).toMatchObject({ exitCode: 0 });
  });

  it("is rejected as a table by its name, and accepted on standard input", async () => {
    const text = `${a}\n${b}\n`;
    const path = await writeInput("plants.csv", text);
    const problem = /plants\.csv looks like JSON: .* names that end in \.csv or \.tsv are/;
    expect(await runCli(["create", path], { server })).toExit(2, problem);
    expect(await create(text)).toMatchObject({ exitCode: 0 });
  });

  it.each([`${a}\n`, `[\n${a}\n]`, ` {\n"id":1}`])("is rejected as a table: %j", async (text) => {
    const problem =
      "error: standard input looks like JSON: --csv, --delimiter and names that end in .csv or .tsv are for tables\n";
    expect(await create(text, "--csv")).toExit(2, problem);
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
  expect(await runCli(["create", ...args], { server })).toExit(2, message);
});
