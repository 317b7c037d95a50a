/** `plantstore create` with many plants, against a real server. */
import { readFile, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";

import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  errorAnswer,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
} from "../../client/scripted-server.ts";
import { startServer, type TestServer, testToken } from "../../helpers/plant-server.ts";
import { type CliOptions, runCli, startCli } from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

let server: TestServer;
let directory: string;
beforeEach(async () => {
  server = await startServer();
  directory = await createTemporaryDirectory();
});
afterEach(() => server.close());

function withServer(options: CliOptions = {}): CliOptions {
  return { ...options, env: { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken } };
}

function create(stdin: string | Uint8Array, ...args: readonly string[]) {
  return runCli(["create", "-", ...args], withServer({ stdin }));
}

async function writeInput(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

/** What stdout says, line by line. */
function toLines(stdout: string): unknown[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

const a = '{"id":1,"name":"a"}';
const b = '{"id":2,"name":"b","tag":"pot"}';
const createdA = { line: 1, status: "created", plant: { name: "a" } };

describe("many plants", () => {
  it("get a line each, in their order, that says what became of them", async () => {
    const broken = '{"id":3';
    const other = '{"id":1,"name":"other"}';
    const { exitCode, stdout, stderr } = await create([a, b, broken, a, other, ""].join("\n"));
    expect(toLines(stdout)).toEqual([
      createdA,
      { line: 2, status: "created", plant: { name: "b", tag: "pot" } },
      { line: 3, status: "rejected", error: { error: 40001, message: expect.any(String) } },
      { line: 4, status: "unchanged", plant: { name: "a" } },
      {
        line: 5,
        status: "rejected",
        error: { error: 40900, message: expect.any(String) },
        requestId: expect.stringMatching(/^[0-9a-f]{12}-[0-9a-z]+$/),
      },
    ]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 8, stderr: "" });
  });

  it("of a server that replaces are replaced in the order of the input", async () => {
    await server.close();
    server = await startServer({ onConflict: "replace" });
    const names = Array.from({ length: 50 }, (_, index) => `name ${index}`);
    const { exitCode, stdout } = await create(
      names.map((name) => `{"id":1,"name":"${name}"}\n`).join(""),
    );
    expect(exitCode).toBe(0);
    expect(toLines(stdout)).toHaveLength(50);
    expect(await server.store.get(1n)).toEqual({ id: 1n, name: "name 49" });
  });

  it.each<[what: string, input: string, args: readonly string[]]>([
    ["an array", `[${a},\n${b}]`, []],
    ["one after the other", `${a}${b}`, []],
    ["a sequence", `\u001e${a}\n\u001e${b}\n`, []],
    ["lines with a byte order mark and CRLF", `\uFEFF${a}\r\n${b}\r\n`, []],
    ["a table", "id,name,tag\n1,a,\n2,b,pot\n", ["--csv"]],
    ["a table with tabs", "tag\tname\tid\n\ta\t1\npot\tb\t2", ["--tsv"]],
    [
      "a table with a byte order mark and CRLF",
      '\uFEFF"id",Name ,TAG\r\n1,a\r\n2,b,pot\r\n',
      ["--csv"],
    ],
  ])("are read from %s", async (_what, input, args) => {
    expect(await create(input, ...args)).toMatchObject({ exitCode: 0 });
    expect(await server.store.list({ limit: 10 })).toEqual([
      { id: 1n, name: "a" },
      { id: 2n, name: "b", tag: "pot" },
    ]);
  });

  it("of several files name their file", async () => {
    const first = await writeInput("first.json", `[${a}]`);
    const second = await writeInput("second.json", `\n${b}`);
    const { exitCode, stdout } = await runCli(["create", first, second], withServer());
    expect(exitCode).toBe(0);
    expect(toLines(stdout)).toMatchObject([
      { file: first, line: 1, status: "created" },
      { file: second, line: 2, status: "created" },
    ]);
  });

  it("of several files: one that is not there is told before anything is sent", async () => {
    const path = await writeInput("plants.json", a);
    const missing = join(directory, "missing.json");
    const result = await runCli(["create", path, missing], withServer());
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await server.store.list({ limit: 1 })).toEqual([]);
  });

  it("are told as soon as they are known, while the input goes on", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create", "--many"], withServer({ stdin }));
    stdin.write(`${a}\n${b.slice(0, 9)}`);
    await run.saw('"line":1');
    stdin.end(b.slice(9));
    expect(toLines((await run.finished).stdout)).toHaveLength(2);
  });

  it("of a table are told as soon as their row is complete", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create", "--csv", "-"], withServer({ stdin }));
    stdin.write("id,name\n1,a\n");
    await run.saw('"line":2');
    stdin.end();
    expect(await run.finished).toMatchObject({ exitCode: 0 });
  });

  it("with --quiet: only what was not created is printed", async () => {
    const { exitCode, stdout } = await create(`${a}\n{}\n${b}\n`, "--quiet");
    expect(exitCode).toBe(8);
    expect(toLines(stdout)).toMatchObject([{ line: 2, status: "rejected" }]);
  });

  it("are sent no faster than --rate", async () => {
    const startedAtMs = performance.now();
    const lines = Array.from({ length: 30 }, (_, id) => `{"id":${id},"name":"a"}\n`);
    expect(await create(lines.join(""), "--rate", "100")).toMatchObject({ exitCode: 0 });
    expect(performance.now() - startedAtMs).toBeGreaterThan(150);
  });
});

describe("--rate with the next plant due in a quarter of an hour", () => {
  const slowly = ["--rate", "0.001"];

  it("delays neither a single plant nor the end", async () => {
    expect(await create(a, ...slowly)).toMatchObject({ exitCode: 0, stdout: '{"name":"a"}\n' });
    const { exitCode, stdout } = await create(`[${a}]`, ...slowly);
    expect({ exitCode, lines: toLines(stdout) }).toMatchObject({ exitCode: 0, lines: [{}] });
  });

  it("delays no Ctrl-C: what was read is sent, and it goes on behind that", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create", "-", ...slowly], withServer({ stdin }));
    stdin.write(`${a}\n${b}\n{"id":3,"name":"c"}\n`);
    await run.saw('"line":1');
    run.signal("SIGINT");
    const { exitCode, stdout, stderr } = await run.finished;
    expect({ exitCode, lines: toLines(stdout) }).toMatchObject({
      exitCode: 130,
      lines: [{ line: 1 }, { line: 2 }],
    });
    expect(stderr).toContain("go on with --from-line 3,");
  });
});

describe("a single plant", () => {
  it.each([`${a}\n`, `\n  {"id":1,\n"name":"a"}`])("%j prints just the Plant", async (input) => {
    expect(await create(input)).toMatchObject({ exitCode: 0, stdout: '{"name":"a"}\n' });
  });

  it.each<[what: string, input: string, args: readonly string[]]>([
    ["with --many", a, ["--many"]],
    ["with --from-line", a, ["--from-line", "1"]],
    ["in an array", `[${a}]`, []],
    ["in a sequence", `\u001e${a}\n`, []],
  ])("gets a line %s", async (_what, input, args) => {
    const { exitCode, stdout } = await create(input, ...args);
    expect(exitCode).toBe(0);
    expect(toLines(stdout)).toEqual([createdA]);
  });

  it("with --quiet prints nothing", async () => {
    expect(await create(a, "--quiet")).toMatchObject({ exitCode: 0, stdout: "" });
  });

  it.each([["[]"], ["", "--many"], ["id,name\n", "--csv"]])(
    "there is none in %j: that is no error where many are expected",
    async (input, ...args) => {
      expect(await create(input, ...args)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    },
  );
});

describe("a table", () => {
  it("leaves out what is empty, and takes what is in quotes as it is", async () => {
    const rows = ['1,"a ""b"", c",', '2,"",""', '3,"x\r\ny\n", z ', "", '4,a"'];
    const { exitCode, stdout } = await create(`id,name,tag\n${rows.join("\r\n")}`, "--csv");
    expect(exitCode).toBe(8);
    expect(await server.store.list({ limit: 10 })).toEqual([
      { id: 1n, name: 'a "b", c' },
      { id: 2n, name: "", tag: "" },
      { id: 3n, name: "x\r\ny\n", tag: " z " },
    ]);
    expect(toLines(stdout).at(-1)).toMatchObject({ line: 8, error: { error: 40001 } });
  });

  it.each<[row: string, error: number, message: RegExp]>([
    ["1,a,b,c", 40001, /4 cells, and the header 3/],
    ['1,"a" b,c', 40001, /quoted cell goes on after its end/],
    ['1,a "b",c', 40001, /must stand in quotes, and they be doubled/],
    [",a,b", 42201, /^column id is missing/],
    ['"",a,b', 42202, /^column id is empty/],
    ["1.5,a,b", 42202, /^column id is 1\.5/],
    ["1", 42204, /^column name is missing/],
    ["\ud800,a", 40002, /not UTF-8/],
  ])("with the row %j: it is rejected, and the others go on", async (row, error, message) => {
    // In one byte each, so that what is no UTF-8 stays that.
    const input = Buffer.from(`id,name,tag\n${row}\n2,b\n`, "latin1");
    const bytes = error === 40002 ? input.fill(0xff, 12, 13) : input;
    const { stdout } = await create(bytes, "--csv");
    expect(toLines(stdout)).toEqual([
      { line: 2, status: "rejected", error: { error, message: expect.stringMatching(message) } },
      { line: 3, status: "created", plant: { name: "b" } },
    ]);
  });

  it.each<[header: string, message: RegExp]>([
    ["id,nme", /standard input must begin with a row that names its columns: id, name/],
    ["id,name,ID", /standard input has two columns id/],
    ['id,"name" x', /standard input has a header row that can't be read: the row is not/],
  ])("with the header %j is refused as a whole", async (header, message) => {
    const { exitCode, stdout, stderr } = await create(`${header}\n1,a\n`, "--csv");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});

describe("--rejects", () => {
  it("takes what was not created, byte for byte, so that it can be mended and sent again", async () => {
    const path = join(directory, "rejects");
    const broken = ['{"id":"1",  "name":"é\\u00e9"}', "{", '{"id":1,"name":"other"}'];
    await create([a, ...broken, b].join("\r\n"), "--rejects", path);
    expect(await readFile(path, "utf8")).toBe(broken.map((line) => `${line}\r\n`).join(""));
  });

  it("takes a single plant as well", async () => {
    const path = join(directory, "rejects");
    expect(await create('{"id":1}', "--rejects", path)).toMatchObject({ exitCode: 3 });
    expect(await readFile(path, "utf8")).toBe('{"id":1}\n');
  });

  it("of a table begins with its header", async () => {
    const path = join(directory, "rejects");
    await create("\uFEFFid,name\r\n1,a\r\nx,b\r\n2,c,d\r\n", "--csv", "--rejects", path);
    expect(await readFile(path, "utf8")).toBe("\uFEFFid,name\r\nx,b\r\n2,c,d\r\n");
    const { stdout } = await runCli(["create", "--csv", path], withServer());
    expect(toLines(stdout)).toMatchObject([{ line: 2 }, { line: 3 }]);
  });

  it("of several tables with the same columns takes rows of each, whatever their marks and line ends", async () => {
    const path = join(directory, "rejects");
    const first = await writeInput("first.csv", "id,name\n1,a\nx,b\n");
    const second = await writeInput("second.csv", '\uFEFF"ID", Name \r\ny,c\r\n2,d\r\n');
    const { exitCode, stderr } = await runCli(
      ["create", "--csv", "--rejects", path, first, second],
      withServer(),
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 8, stderr: "" });
    expect(await readFile(path, "utf8")).toBe("id,name\nx,b\ny,c\r\n");
    const again = await runCli(["create", "--csv", path], withServer());
    expect(toLines(again.stdout)).toMatchObject([
      { line: 2, error: { error: 42202 } },
      { line: 3, error: { error: 42202 } },
    ]);
  });

  it("of several tables with other columns ends with the first row that it can't take, and says where to go on", async () => {
    const path = join(directory, "rejects");
    const first = await writeInput("first.csv", "id,name\n1,a\nx,b\n");
    const second = await writeInput("second.csv", "name,id\nc,3\nd,y\ne,4\n");
    const options = withServer({ terminals: { stderr: true } });
    const { exitCode, stdout, stderr } = await runCli(
      ["create", "--csv", "--rejects", path, first, second],
      options,
    );
    expect(exitCode).toBe(2);
    expect(toLines(stdout)).toMatchObject([
      { file: first, line: 2, status: "created" },
      { file: first, line: 3, status: "rejected" },
      { file: second, line: 2, status: "created" },
    ]);
    expect(stderr).toMatch(/created 2, unchanged 0, replaced 0, refused 1, failed 0 in /);
    expect(
      stderr.endsWith(
        `: ${path} takes rows of tables with the same columns, and ${second} has others: name another file with --rejects; go on with --from-line 3 and the inputs from ${second} on\n`,
      ),
    ).toBe(true);
    expect(await readFile(path, "utf8")).toBe("id,name\nx,b\n");
    // Nor can the run that goes on put them there.
    const next = await runCli(
      ["create", "--csv", "--rejects", path, "--from-line", "3", second],
      withServer(),
    );
    expect(next).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await readFile(path, "utf8")).toBe("id,name\nx,b\n");
  });

  it("of a table is no other file that goes on", async () => {
    const path = await writeInput("rejects", "{}\n");
    const table = ["--csv", "--rejects", path, "--from-line", "1"];
    const { exitCode, stderr } = await create("id,name\nx,b\n1,a\n", ...table);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      `error: ${path} begins like JSON, which is no table: --csv and --tsv are for tables\n`,
    );
    expect(await server.store.list({ limit: 1 })).toEqual([]);
  });

  it("goes on in its file with --from-line, and else begins anew", async () => {
    const path = await writeInput("rejects", "what was there\n");
    const input = `${a}\n{}\n[]\n`;
    await create(input, "--rejects", path, "--from-line", "3");
    expect(await readFile(path, "utf8")).toBe("what was there\n[]\n");
    await create(input, "--rejects", path);
    expect(await readFile(path, "utf8")).toBe("{}\n[]\n");
  });

  it("goes on behind a last line that was left without an end", async () => {
    const path = await writeInput("rejects", "mended by hand");
    await create(`${a}\n{}\n`, "--rejects", path, "--from-line", "2");
    expect(await readFile(path, "utf8")).toBe("mended by hand\n{}\n");
  });

  it("leaves a file as it was whose header is none of plants", async () => {
    const path = await writeInput("rejects", "foo,bar");
    const { exitCode } = await create(
      "id,name\n,a\n",
      "--csv",
      "--rejects",
      path,
      "--from-line",
      "1",
    );
    expect(exitCode).toBe(2);
    expect(await readFile(path, "utf8")).toBe("foo,bar");
  });

  it("goes on in its file at the beginning of another input as well, as the end of a run advises", async () => {
    const rejects = join(directory, "rejects");
    const first = await writeInput("first", "{}\n");
    const stdin = new PassThrough();
    const run = startCli(["create", first, "-", "--rejects", rejects], withServer({ stdin }));
    stdin.write(`${a}\n`);
    await run.saw('"created"');
    run.signal("SIGINT");
    expect((await run.finished).stderr).toContain(
      "go on with --from-line 2 and the inputs from standard input on, or repeat",
    );
    await create('{"id":2}\n', "--from-line", "1", "--rejects", rejects);
    expect(await readFile(rejects, "utf8")).toBe('{}\n{"id":2}\n');
  });

  it.each<[what: string, others: string, exit: number]>([
    ["alone", "", 3],
    ["among others", `\n${a}\n{}`, 8],
  ])("lacks a record that is too long to be kept, %s, and says so", async (_what, others, exit) => {
    const path = join(directory, "rejects");
    const tooLong = Buffer.alloc(64 * 1024 * 1024 + 1, "x");
    const input = Buffer.concat([tooLong, Buffer.from(others)]);
    const { exitCode, stdout, stderr } = await create(input, "--rejects", path);
    expect(exitCode).toBe(exit);
    expect(stdout).toContain('"error":41300');
    expect(stderr).toContain(
      `warning: ${path} lacks the record at line 1 of standard input: it is too long to be kept\n`,
    );
    expect(await readFile(path, "utf8")).toBe(others === "" ? "" : "{}\n");
  });

  it("is no input", async () => {
    const path = await writeInput("plants", `${a}\n{}\n`);
    const result = await runCli(["create", path, "--rejects", path], withServer());
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await readFile(path, "utf8")).toBe(`${a}\n{}\n`);
  });

  it.runIf(process.platform === "linux")(
    "that is full ends it, and what came of the records before is told",
    async () => {
      const { exitCode, stdout, stderr } = await create(`${a}\n{}\n`, "--rejects", "/dev/full");
      expect({ exitCode, lines: toLines(stdout) }).toEqual({ exitCode: 2, lines: [createdA] });
      expect(stderr).toMatch(
        /^error: \/dev\/full can't be written: ENOSPC.*; go on with --from-line 2\n$/,
      );
    },
  );

  it("that can't be written ends it before anything is sent", async () => {
    const { exitCode, stderr } = await create(`${a}\n${b}\n`, "--rejects", directory);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: .* can't be written: it is a directory/);
    expect(await server.store.list({ limit: 1 })).toEqual([]);
  });
});

describe("it ends early", () => {
  const line = (id: number): string => `{"id":${id},"name":"a"}\n`;

  it("with --fail-fast: reads no more, and says where to go on", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create", "--fail-fast"], withServer({ stdin }));
    stdin.write(`${line(1)}{}\n${line(3)}`);
    const { exitCode, stdout, stderr } = await run.finished;
    expect(exitCode).toBe(8);
    expect(toLines(stdout)).toHaveLength(3);
    expect(stderr).toBe(
      "stopped at what was not created (--fail-fast): go on with --from-line 4, or repeat the same command\n",
    );
  });

  it.each([
    ["lines", [], `${line(1)}{}`],
    ["a table", ["--csv"], "id,name\n,a"],
    ["a sequence", [], `\u001E${line(1)}\u001E{}`],
  ])("in %s without a last line break: goes on behind them", async (_what, args, input) => {
    const { stderr } = await create(input, "--fail-fast", ...args);
    expect(stderr).toContain("go on with --from-line 3, or repeat");
  });

  it("--from-line passes over what begins before", async () => {
    const { stdout } = await create(`${line(1)}${line(2)}${line(3)}`, "--from-line", "2");
    expect(toLines(stdout)).toMatchObject([{ line: 2 }, { line: 3 }]);
    expect(await server.store.get(1n)).toBeUndefined();
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s: what was sent is answered and told, exit %i", async (signal, code) => {
    const stdin = new PassThrough();
    const run = startCli(["create", "--many"], withServer({ stdin }));
    stdin.write(line(1));
    await run.saw('"line":1');
    stdin.write(`${line(2)}${line(3)}`);
    await run.saw('"line":3');
    run.signal(signal);
    const { exitCode, stdout, stderr } = await run.finished;
    expect(exitCode).toBe(code);
    expect(toLines(stdout)).toHaveLength(3);
    expect(stderr).toBe(
      `error: stopped by ${signal}: go on with --from-line 4, or repeat the same command\n`,
    );
    expect(stdin.destroyed).toBe(true);
  });

  describe("and after a record that failed", () => {
    /** Ends with Ctrl-C once the store, up for all others, was away for the second of three records. */
    async function endAfterFailure(...args: readonly string[]) {
      const scripted = await openScriptedServer((response) => {
        const isAway = scripted.requests.at(-1)?.body.includes('"id":2,') === true;
        (isAway ? errorAnswer(50_301) : json(200, '{"name":"a"}'))(response);
      });
      const stdin = new PassThrough();
      const env = { PLANTSTORE_URL: scripted.url, PLANTSTORE_TOKEN: testToken };
      const run = startCli(["create", "--many", "--retry", "1", ...args], { stdin, env });
      stdin.write(line(1) + line(2) + line(3));
      await run.saw('"line":3');
      run.signal("SIGINT");
      const { exitCode, stdout, stderr } = await run.finished;
      expect(toLines(stdout)).toMatchObject([{}, { line: 2, status: "failed" }, {}]);
      return { exitCode, stderr };
    }

    it("goes on with that one, so that nothing is left behind", async () => {
      expect(await endAfterFailure()).toEqual({
        exitCode: 130,
        stderr: "error: stopped by SIGINT: go on with --from-line 2, or repeat the same command\n",
      });
    });

    it("goes on behind all when --rejects has taken that one, and says which file has it", async () => {
      const path = join(directory, "rejects");
      expect(await endAfterFailure("--rejects", path)).toEqual({
        exitCode: 130,
        stderr: `error: stopped by SIGINT: go on with --from-line 4, or repeat the same command; ${path} has what was not created\n`,
      });
      expect(await readFile(path, "utf8")).toBe(line(2));
    });
  });

  it("on a terminal it says what it still waits for after Ctrl-C", async () => {
    const sockets: Socket[] = [];
    const url = await openRawServer((socket) => void sockets.push(socket));
    const options = { stdin: line(1) + line(2), terminals: { stderr: true } };
    const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: testToken };
    const run = startCli(["create", "-"], { ...options, env });
    await run.saw("plants");
    run.signal("SIGINT");
    await run.saw("waiting for what was sent; Ctrl-C again stops at once");
    for (const socket of sockets) socket.destroy();
    expect((await run.finished).exitCode).toBe(130);
  });

  it("a refused token: exit 4, and it says where it came from and where to go on", async () => {
    const lines = Array.from({ length: 1000 }, (_, id) => line(id));
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: "wrong" };
    const result = await runCli(["create", "-"], { env, stdin: lines.join("") });
    expect(result).toMatchObject({ exitCode: 4, stdout: "" });
    expect(result.stderr).toMatch(
      /^error 40102: .*the token came from PLANTSTORE_TOKEN; request [\w-]+; go on with --from-line 1, or repeat the same command\)\n$/,
    );
  });

  it("a server that stays away: exit 6, and it says where to go on", async () => {
    const env = { PLANTSTORE_URL: await findClosedUrl(), PLANTSTORE_TOKEN: "secret" };
    const stdin = `${line(1)}${line(2)}`;
    const result = await runCli(["create", "-", "--retry", "1"], { env, stdin });
    expect(result).toMatchObject({ exitCode: 6, stdout: "" });
    expect(result.stderr).toMatch(
      /after 2 attempts.*; go on with --from-line 1, or repeat the same command\n$/,
    );
  });

  it("an output that nobody reads any more: quietly, exit 141", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create", "--many"], withServer({ stdin }));
    stdin.write(line(1));
    await run.saw('"line":1');
    run.closeStdout();
    stdin.write(line(2));
    const { exitCode, stderr } = await run.finished;
    expect({ exitCode, stderr }).toEqual({ exitCode: 141, stderr: "" });
    expect(stdin.destroyed).toBe(true);
  });

  it("an input that breaks: what was read before is told, exit 2", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create", "--many"], withServer({ stdin }));
    stdin.write(line(1));
    await run.saw('"line":1');
    stdin.destroy(new Error("the pipe broke"));
    expect(await run.finished).toMatchObject({
      exitCode: 2,
      stderr:
        "error: standard input can't be read: the pipe broke; go on with --from-line 2, or repeat the same command\n",
    });
  });
});

describe("a person at a terminal", () => {
  const terminals = { stderr: true };

  it("is told while the store is away, and sees no time left once all is read", async () => {
    const path = await writeInput("plants.json", `${a}\n${b}\n`);
    const { url } = await openScriptedServer(errorAnswer(50_301));
    const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: testToken };
    const run = startCli(["create", path], { terminals, env });
    await run.saw(`${url} is unavailable (error 50301), trying again: 100 % read, 0 plants, 0/s`);
    expect(run.stderr()).not.toContain("left");
    run.signal("SIGINT");
    expect((await run.finished).exitCode).toBe(130);
  });

  it("is shown how far it is, and at the end what became of them", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create"], withServer({ stdin, terminals }));
    stdin.write(`${a}\n${b}\n{}\n`);
    await run.saw("3 plants, 1 not created, ");
    stdin.end();
    expect((await run.finished).stderr).toMatch(
      /created 2, unchanged 0, replaced 0, refused 1, failed 0 in [\d.]+ s \(\d+\/s\)\n$/,
    );
  });

  it.each<[what: string, args: readonly string[], env: Readonly<Record<string, string>>]>([
    ["with --quiet", ["--quiet"], {}],
    ["in CI", [], { CI: "true" }],
  ])("is shown nothing %s", async (_what, args, env) => {
    const { exitCode, stderr } = await runCli(["create", ...args], {
      stdin: `${a}\n${b}\n`,
      terminals,
      env: { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken, ...env },
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });
});

describe("a table and JSON that are taken for each other", () => {
  it.each(["csv", "tsv"])("a file that ends in .%s needs its flag", async (extension) => {
    const path = await writeInput(`plants.${extension}`, "id,name\n1,a\n");
    const { exitCode, stderr } = await runCli(["create", path], withServer());
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `error: ${path} is not JSON: give --${extension} for a table\n`,
    });
  });

  it("a file that ends in .csv may hold JSON", async () => {
    const path = await writeInput("plants.csv", `${a}\n${b}\n`);
    expect(await runCli(["create", path], withServer())).toMatchObject({ exitCode: 0 });
  });

  it.each([`${a}\n`, `[\n${a}\n]`, ` {\n"id":1}`])("%j is no table", async (text) => {
    const { exitCode, stderr } = await create(text, "--csv");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        "error: standard input begins like JSON, which is no table: --csv and --tsv are for tables\n",
    });
  });
});

describe("what contradicts itself is refused", () => {
  it.each([
    [["--csv", "--tsv", "-"], /either --csv or --tsv/],
    [["--id", "1", "--name", "a", "--csv"], /--csv.* are for files and standard input/],
    [["--id", "1", "--name", "a", "--rejects", "x"], /--rejects are for files/],
    [["--rejects", "", "-"], /--rejects is empty: it must be a file/],
    [["--rejects", "-", "-"], /--rejects is -: it must be a file, for stdout has the results/],
    [["--concurrency", "0", "-"], /--concurrency is "0": it must be a whole number from 1 to 1024/],
    [["--rate", "0", "-"], /--rate is "0": it must be a number such as 100 or 0\.5/],
    [["--from-line", "0", "-"], /--from-line is "0": it must be a line, counted from 1/],
  ])("%j", async (args, message) => {
    const { exitCode, stderr } = await runCli(["create", ...args], withServer());
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
  });
});
