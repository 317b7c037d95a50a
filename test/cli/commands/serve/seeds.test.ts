/** `plantstore serve --seed`: plants that are there before the first request. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { mintToken } from "../../../../src/auth/authenticator.ts";
import {
  allTerminals,
  type CliOptions,
  containing,
  runCli,
  startCli,
} from "../../../helpers/run-cli.ts";
import { postPlant } from "../../../helpers/post-plant.ts";
import { inHome, serve as startInHome, useHome } from "./serve-home.ts";

const env = { PLANTSTORE_TOKEN: mintToken() };
const ferns = '{"id":9007199254740993,"name":"fern"}\n{"id":2,"name":"moss"}\n';

useHome();

/** Writes files with a seed each. */
async function writeSeeds(texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(texts)) await writeFile(inHome(name), text);
}

/** Starts `serve`, and resolves once it serves. */
async function serve(args: readonly string[], options: CliOptions = {}) {
  const run = await startInHome(["--log-format", "text", ...args], { env, ...options });
  await run.saw(options.terminals ? " is ready" : "Listening on");
  return run;
}

/** The result of a create at a server. */
async function create(url: string, plant: string): Promise<string | null> {
  const response = await postPlant(url, env.PLANTSTORE_TOKEN, plant);
  return response.headers.get("x-plantstore-result");
}

it("loads files of several formats before the first request", async () => {
  await writeSeeds({
    "a b.ndjson": ferns,
    "array.json": '[\n{"id":3,\n"name":"ivy"}]',
    "table.csv": "id,name,tag\n4,rose,bush\n",
    "semicolons.csv": "id;name\n5;oak\n;\n",
  });
  const seeds = ["a b.ndjson", "array.json", "table.csv", "semicolons.csv"];
  const flags = seeds.flatMap((name) => ["--seed", inHome(name)]);
  const { url, stderr } = await serve(["--store", "memory:", ...flags]);
  expect(stderr()).toContain("Seeds: created 5, unchanged 0, replaced 0");
  expect(await create(url, '{"id":9007199254740993,"name":"fern"}')).toBe("unchanged");
  expect(await create(url, '{"id":4,"name":"rose","tag":"bush"}')).toBe("unchanged");
});

it("loads the file that the environment names", async () => {
  await writeSeeds({ "plants.ndjson": ferns });
  const { stderr } = await serve(["--store", "memory:"], {
    env: { ...env, PLANTSTORE_SEED: inHome("plants.ndjson") },
  });
  expect(stderr()).toContain("Seeds: created 2,");
});

describe("with a durable store", () => {
  it("replays the seed at each start, so that nothing changes", async () => {
    await writeSeeds({ "plants.ndjson": ferns });
    const flags = ["--store", `sqlite:${inHome("plants.db")}`];
    const seed = ["--seed", inHome("plants.ndjson")];
    const first = await serve([...flags, ...seed]);
    await first.stop();
    const second = await serve([...flags, ...seed]);
    expect(second.stderr()).toContain("Seeds: created 0, unchanged 2, replaced 0");
  });

  it("leaves no store behind after a broken seed", async () => {
    await writeSeeds({ "good.ndjson": ferns, "bad.ndjson": `${ferns}{"id":3}\n` });
    const store = inHome("plants.db");
    const seeds = ["good.ndjson", "bad.ndjson"].flatMap((name) => ["--seed", inHome(name)]);
    const argv = ["serve", "--port", "0", "--store", `sqlite:${store}`, ...seeds];
    const result = await runCli(argv, { home: inHome(), env });
    expect(result).toExit(3, /^error: --seed: .*bad\.ndjson: record 3 at line 3: name is missing/);
    expect(existsSync(store)).toBe(false);
  });

  it("stops at an id that belongs to a different plant, unless it may be replaced", async () => {
    await writeSeeds({ "a.ndjson": ferns, "b.csv": "id,name\n2,ivy\n" });
    const store = ["--store", `sqlite:${inHome("plants.db")}`];
    await (await serve([...store, "--seed", inHome("a.ndjson")])).stop();
    const argv = [...store, "--seed", inHome("b.csv")];
    const result = await runCli(["serve", "--port", "0", ...argv], { home: inHome(), env });
    expect(result).toExit(5, /b\.csv: record 1 at line 2: id 2 belongs to a different plant/);
    const replacing = await serve([...argv, "--on-conflict", "replace"]);
    expect(replacing.stderr()).toContain("Seeds: created 0, unchanged 0, replaced 1");
  });

  it.each([
    ["standard input", "-"],
    ["a pipe", "pipe"],
  ])("rejects %s, because it cannot be read again", async (_what, path) => {
    execFileSync("mkfifo", [inHome("pipe")]);
    const seed = path === "-" ? path : inHome(path);
    const store = inHome("plants.db");
    const argv = ["serve", "--port", "0", "--store", `sqlite:${store}`, "--seed", seed];
    const problem = "cannot be read again at the next start: a durable store needs a file";
    expect(await runCli(argv, { home: inHome(), env })).toExit(2, containing(problem));
    expect(existsSync(store)).toBe(false);
  });
});

describe("with a store in memory", () => {
  it("reads standard input", async () => {
    const { stderr } = await serve(["--store", "memory:", "--seed", "-"], { stdin: ferns });
    expect(stderr()).toContain("Seeds: created 2,");
  });

  it("reads a named pipe", async () => {
    const pipe = inHome("pipe");
    execFileSync("mkfifo", [pipe]);
    const writer = createWriteStream(pipe);
    writer.end(ferns);
    const [{ stderr }] = await Promise.all([
      serve(["--store", "memory:", "--seed", pipe]),
      once(writer, "close"),
    ]);
    expect(stderr()).toContain("Seeds: created 2,");
  });

  it("stops on a signal while it waits for a seed, without serving", async () => {
    const stdin = new PassThrough();
    const options = { home: inHome(), env, stdin, terminals: { stderr: true } };
    const run = startCli(["serve", "--port", "0", "--store", "memory:", "--seed", "-"], options);
    await run.saw("loading seeds");
    expect(await run.stop()).toMatchObject({ exitCode: 0, stdout: "" });
  });
});

describe("a seed that cannot be loaded stops the start", () => {
  it.each<[rule: string, file: string, text: string, code: number, message: string]>([
    [
      "an invalid plant",
      "p.ndjson",
      '{"id":"1","name":"a"}',
      3,
      "p.ndjson: record 1 at line 1: id",
    ],
    [
      "two plants with one id",
      "p.csv",
      "id,name\n1,a\n1,b\n",
      5,
      "p.csv: record 2 at line 3: id 1",
    ],
    ["a plant over --max-body", "p.json", `{"id":1,"name":"${"a".repeat(100)}"}`, 3, "100 bytes"],
    ["a table without its header", "p.csv", "1,a\n", 2, "must begin with a row that names its co"],
    ["invalid JSON", "p.json", '{"id":1,\n"name":"a",\n}', 2, "p.json:3:1): remove the comma"],
    ["an incomplete array", "p.json", '[{"id":1,"name":"a"}', 2, "ends inside the array"],
  ])("%s", async (_rule, file, text, code, message) => {
    await writeSeeds({ [file]: text });
    for (const store of ["memory:", `sqlite:${inHome("plants.db")}`]) {
      const limits = ["--max-body", "100"];
      const flags = ["--port", "0", "--store", store, ...limits, "--seed", inHome(file)];
      const result = await runCli(["serve", ...flags], { home: inHome(), env });
      expect(result).toExit(code, /^error: /);
      expect(result.stderr).toContain(message);
    }
  });

  it.each([
    ["a missing file", "p.json", "does not exist"],
    ["a directory", ".", "cannot be read: it is a directory"],
  ])("%s is reported before the server listens", async (_rule, file, reason) => {
    const { url } = await serve(["--store", "memory:"]);
    const usedPort = new URL(url).port;
    const seed = inHome(file);
    const argv = ["serve", "--store", "memory:", "--port", usedPort, "--seed", seed];
    const result = await runCli(argv, { home: inHome(), env });
    expect(result).toExit(2, containing(`error: --seed: ${seed} ${reason}`));
  });

  it("standard input that is given twice", async () => {
    const argv = ["serve", "--store", "memory:", "--seed", "-", "--seed", "-"];
    const problem = /^error: --seed - \(standard input\) is given twice: remove one of them/;
    expect(await runCli(argv)).toExit(2, problem);
  });

  it("an empty path", async () => {
    const result = await runCli(["serve", "--seed", "a", "--seed", ""]);
    expect(result).toExit(2, containing('--seed must be a file, or - for standard input (got "")'));
  });
});

it("100,000 plants are loaded and stored before the first request", async () => {
  const lines = Array.from({ length: 100_000 }, (_, id) => `{"id":${id},"name":"fern"}\n`);
  await writeSeeds({ "plants.ndjson": lines.join("") });
  const flags = ["--store", `sqlite:${inHome("plants.db")}`];
  const args = [...flags, "--seed", inHome("plants.ndjson")];
  const { url, stderr } = await serve(args, { terminals: allTerminals });
  expect(stderr()).toContain("created 100000, unchanged 0");
  expect(await create(url, '{"id":99999,"name":"fern"}')).toBe("unchanged");
});
