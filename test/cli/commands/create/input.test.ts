import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { json, openScriptedServer, type ScriptedServer } from "../../../client/scripted-server.ts";
import {
  allTerminals,
  type CliOptions,
  containing,
  runCli,
  startCli,
} from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await openScriptedServer(json(200, '{"name":"response"}'));
});

function create(args: readonly string[], options?: CliOptions) {
  return runCli(["create", ...args], { server, ...options });
}

const sentBodies = (): string[] => server.requests.map(({ body }) => body);

async function writePlant(bytes: string | Uint8Array): Promise<string> {
  const path = join(await createTemporaryDirectory(), "plant.json");
  await writeFile(path, bytes);
  return path;
}

const plant = '{"id":9223372036854775807,"name":"fern","tag":"pot"}';

describe("a plant is read", () => {
  it("from flags, even if stdin never ends", async () => {
    const args = ["--id", "9223372036854775807", "--name", "fern", "--tag", "pot"];
    const neverEnding = new PassThrough();
    expect(await create(args, { stdin: neverEnding })).toMatchObject({ exitCode: 0 });
    expect(sentBodies()).toEqual([plant]);
  });

  it("from a file", async () => {
    expect(await create([await writePlant(`${plant}\n`)])).toMatchObject({ exitCode: 0 });
    expect(sentBodies()).toEqual([plant]);
  });

  it.each([[["-"]], [[]]])("from stdin, with the arguments %j", async (args) => {
    expect(await create(args, { stdin: `${plant}\n` })).toMatchObject({ exitCode: 0 });
    expect(sentBodies()).toEqual([plant]);
  });

  it("from stdin that arrives in pieces, even within a character", async () => {
    const bytes = Buffer.from('{"id":1,"name":"mönstera"}');
    const stdin = new PassThrough();
    const run = startCli(["create", "-"], { server, stdin });
    for (const byte of bytes) stdin.write(Buffer.of(byte));
    stdin.end();
    expect(await run.finished).toMatchObject({ exitCode: 0 });
    expect(sentBodies()).toEqual(['{"id":1,"name":"mönstera"}']);
  });

  it("from a terminal as a table with --csv, after a message", async () => {
    const stdin = "id,name\n1,fern\n";
    const { stderr } = await create(["--csv", "-"], { stdin, terminals: allTerminals });
    expect(stderr).toMatch(/^Server: .*\nreading plants as a table from the terminal: /);
  });

  it("from a terminal with -, after a message", async () => {
    expect(await create(["-"], { stdin: plant, terminals: allTerminals })).toExit(
      0,
      /^Server: .*\nreading plants as JSON from the terminal: end with Ctrl-D\n.*✓.* created plant \d+\n$/,
      '{"name":"response"}\n',
    );
  });

  it("from a terminal only with -: without it the error names the three ways", async () => {
    const result = await create([], { terminals: { stdin: true } });
    expect(result).toExit(2, /^error: no plant: .*--id 1 --name fern.*plant\.json.*\(-\)\nSee /);
  });
});

describe("a flag", () => {
  it.each([
    [["--id", "-9223372036854775808", "--name", ""], '{"id":-9223372036854775808,"name":""}'],
    [["--id=1e3", "--name=--tag"], '{"id":1000,"name":"--tag"}'],
    [
      ["--id", "1.0", "--name", "--version", "--tag=--help"],
      '{"id":1,"name":"--version","tag":"--help"}',
    ],
    [["--id", "-0", "--name", "\u0001🌱"], '{"id":0,"name":"\\u0001🌱"}'],
  ])("%j sends %s", async (args, body) => {
    await create(args);
    expect(sentBodies()).toEqual([body]);
  });

  it.each([
    [["--id", "1", "--name", "--dry-run"], "--name", "--dry-run"],
    [["--id", "--name", "fern"], "--id", "--name"],
    [["--id", "1", "--name", "fern", "--tag", "-q"], "--tag", "-q"],
  ])("%j has no value if an option follows", async (args, flag, value) => {
    const problem = `error: ${flag} has no value: add one before ${value}, or write ${flag}=${value}\n`;
    expect(await create(args)).toExit(2, containing(problem));
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["plants.xlsx", Buffer.from("PK\x03\x04 and so on")],
    ["plants.xls", Buffer.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1)],
  ])("is the spreadsheet %s, which no command converts", async (name, bytes) => {
    const path = join(await createTemporaryDirectory(), name);
    await writeFile(path, bytes);
    expect(await create([path])).toExit(
      2,
      `error: ${path} is a spreadsheet: save it as CSV UTF-8\n`,
    );
  });

  const range = "an integer from -9223372036854775808 to 9223372036854775807";

  async function expectRejected(args: readonly string[], error: number, message: string) {
    const output = `${JSON.stringify({ error, message })}\n`;
    expect(await create(args)).toExit(3, `error ${error}: ${message}\n`, output);
    expect(server.requests).toEqual([]);
  }

  it.each([
    ["abc", 42202, "abc"],
    ["", 42202, "empty"],
    ["1.5", 42202, "1.5"],
    ["0x10", 42202, "0x10"],
    ["05", 42202, "05"],
    [" 12 ", 42202, '" 12 "'],
    [" ", 42202, '" "'],
    ["9223372036854775808", 42203, "9223372036854775808"],
  ])("--id %j is rejected with error %i: got %s", async (id, error, got) => {
    await expectRejected(["--id", id, "--name", "a"], error, `--id must be ${range} (got ${got})`);
  });

  it.each([
    [["--name", "a"], 42201, `--id is missing: add ${range}`],
    [["--id", "1"], 42204, "--name is missing: add a string"],
    [["--tag", "pot"], 42201, `--id is missing: add ${range}; --name is missing: add a string`],
    [["--id", "x"], 42202, `--id must be ${range} (got x); --name is missing: add a string`],
  ])("%j is rejected with error %i and every reason", expectRejected);
});

describe("a document that is not a plant", () => {
  it.each<[error: number, document: string | Uint8Array, message: RegExp]>([
    [40003, "", /the body is empty/],
    [40003, " \r\n\n", /the body is empty/],
    [40005, '{"id":1,"id":1,"name":"a"}', /^id occurs twice/],
    [40006, '{"id":1,"name":"\\ud800"}', /^name contains an unpaired surrogate/],
    [42200, "1", /^expected an object .* but found 1$/],
    [42202, '{"id":"1"}', /^id must be .*a string.*; name is missing/],
  ])("is rejected with error %i before anything is sent", async (error, document, message) => {
    const path = await writePlant(document);
    for (const input of [path, "-"]) {
      const result = await create([input], { stdin: document });
      const rejection = { error, message: expect.stringMatching(message) as string };
      expect(result).toExit(3, /^error \d+: [^\n]*\n$/, [rejection]);
      expect(result.stderr).toContain(` (in ${input === "-" ? "standard input" : path})\n`);
    }
    expect(server.requests).toEqual([]);
  });

  it.each<[document: string | Uint8Array, message: string]>([
    ['{"id":1,', "expected a member name in quotes but found the end (INPUT:1:9)"],
    [Uint8Array.of(0x22, 0xff, 0x22), "invalid UTF-8 (INPUT:1:2): encode the text in UTF-8"],
  ])("is not JSON, with the place", async (document, message) => {
    const path = await writePlant(document);
    expect(await create([path])).toExit(2, containing(message.replace("INPUT", path)));
    expect(server.requests).toEqual([]);
  });

  it.each([
    "fern",
    '{"id":5}',
    ' [{"id":5,"name":"a.b"}]',
    "http://127.0.0.1:1",
    "unix:/plants.sock",
  ])("is %s, which is no file, with advice", async (text) => {
    const advice =
      " does not exist\nAn argument is a file. A plant has flags (--id 1 --name fern), JSON comes from standard input (-), and --url selects the server.\n";
    expect(await create([text])).toExit(2, containing(advice));
  });

  it.each([
    ["/nonexistent/plant.json", "does not exist"],
    ["plants.ndjson", "does not exist"],
    ["data/plants", "does not exist"],
    ["/dev/null/x", "cannot be read: a part of its path is not a directory"],
  ])("is the missing file %s", async (path, problem) => {
    expect(await create([path])).toExit(2, `error: ${path} ${problem}\n`);
  });

  it.each([
    ["compressed with gzip", gzipSync(plant), "gunzip --stdout < FILE"],
    [
      "UTF-16",
      Buffer.from(`\uFEFF${plant}`, "utf16le"),
      "iconv --from-code UTF-16LE --to-code UTF-8 < FILE",
    ],
    [
      "a zip file, or a spreadsheet that has to be saved as CSV UTF-8",
      Buffer.from("PK\x03\x04 and so on"),
      "unzip -p FILE",
    ],
    [
      "a SQLite database",
      Buffer.from("SQLite format 3\0\x10\0"),
      "plantstore export --store sqlite:FILE",
    ],
  ])("is %s", async (what, bytes, program) => {
    for (const flags of [[], ["--csv"]]) {
      const path = await writePlant(bytes);
      const result = await create([...flags, path]);
      const pipe = `${program.replace("FILE", path)} | ${["plantstore create", ...flags, "-"].join(" ")}`;
      expect(result).toExit(
        2,
        `error: ${path} is ${what}: convert it to plain text\nFor example:\n  ${pipe}\n`,
      );
    }
    expect(server.requests).toEqual([]);
  });

  it("is a stdin that fails", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create", "-"], { server, stdin });
    stdin.destroy(new Error("the pipe broke"));
    expect(await run.finished).toExit(2, "error: standard input cannot be read: the pipe broke\n");
  });
});

it("a message about the wait for stdin is shown on a terminal after a while", async () => {
  const stdin = new PassThrough();
  const run = startCli(["create"], { server, stdin, terminals: { stderr: true } });
  await run.saw("waiting for input");
  stdin.end(plant);
  const { exitCode, stdout, stderr } = await run.finished;
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '{"name":"response"}\n' });
  const afterwards = stderr.split("\u001b[0K").at(-1);
  expect(afterwards).toMatch(/^\S*✓\S* created plant \d+\n$/);
});
