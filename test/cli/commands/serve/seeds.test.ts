/** `plantstore serve --seed`: plants that are there before the first request. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { mintToken } from "../../../../src/auth/authenticator.ts";
import { allTerminals, type CliOptions, runCli, startCli } from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

const env = { PLANTSTORE_TOKEN: mintToken() };
const ferns = '{"id":9007199254740993,"name":"fern"}\n{"id":2,"name":"moss"}\n';

/** Files with a seed each, in a new directory. */
async function writeSeeds(texts: Readonly<Record<string, string>>): Promise<string> {
  const home = await createTemporaryDirectory();
  for (const [name, text] of Object.entries(texts)) await writeFile(join(home, name), text);
  return home;
}

/** Starts `serve` and returns its log once it serves. */
async function serve(home: string, args: readonly string[], options: CliOptions = {}) {
  const run = startCli(["serve", "--port", "0", "--log-format", "text", ...args], {
    home,
    env,
    ...options,
  });
  onTestFinished(async () => {
    run.signal("SIGTERM");
    await run.finished;
  });
  await expect.poll(run.stdout).toMatch(/^http:.*\n$/);
  await run.saw(options.terminals ? " is ready" : "Listening on");
  const stop = async () => {
    run.signal("SIGTERM");
    return run.finished;
  };
  return { url: run.stdout().trim(), stop, stderr: run.stderr };
}

/** The result of a create at a server. */
async function create(url: string, plant: string): Promise<string | null> {
  const response = await fetch(`${url}/plants`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${env.PLANTSTORE_TOKEN}`,
      "content-type": "application/json",
    },
    body: plant,
  });
  return response.headers.get("x-plantstore-result");
}

it("loads files of several formats before the first request", async () => {
  const home = await writeSeeds({
    "a b.ndjson": ferns,
    "array.json": '[\n{"id":3,\n"name":"ivy"}]',
    "table.csv": "id,name,tag\n4,rose,bush\n",
    "semicolons.csv": "id;name\n5;oak\n;\n",
  });
  const seeds = ["a b.ndjson", "array.json", "table.csv", "semicolons.csv"];
  const flags = seeds.flatMap((name) => ["--seed", join(home, name)]);
  const { url, stderr } = await serve(home, ["--store", "memory:", ...flags]);
  expect(stderr()).toContain("Seeds: 5 plants created, 0 unchanged, 0 replaced");
  expect(await create(url, '{"id":9007199254740993,"name":"fern"}')).toBe("unchanged");
  expect(await create(url, '{"id":4,"name":"rose","tag":"bush"}')).toBe("unchanged");
});

it("loads the file that the environment names", async () => {
  const home = await writeSeeds({ "plants.ndjson": ferns });
  const { stderr } = await serve(home, ["--store", "memory:"], {
    env: { ...env, PLANTSTORE_SEED: join(home, "plants.ndjson") },
  });
  expect(stderr()).toContain("Seeds: 2 plants created");
});

describe("with a durable store", () => {
  it("replays the seed at each start, so that nothing changes", async () => {
    const home = await writeSeeds({ "plants.ndjson": ferns });
    const flags = ["--store", `sqlite:${join(home, "plants.db")}`];
    const seed = ["--seed", join(home, "plants.ndjson")];
    const first = await serve(home, [...flags, ...seed]);
    await first.stop();
    const second = await serve(home, [...flags, ...seed]);
    expect(second.stderr()).toContain("Seeds: 0 plants created, 2 unchanged, 0 replaced");
  });

  it("leaves no store behind after a broken seed", async () => {
    const home = await writeSeeds({ "good.ndjson": ferns, "bad.ndjson": `${ferns}{"id":3}\n` });
    const store = join(home, "plants.db");
    const seeds = ["good.ndjson", "bad.ndjson"].flatMap((name) => ["--seed", join(home, name)]);
    const argv = ["serve", "--port", "0", "--store", `sqlite:${store}`, ...seeds];
    const { exitCode, stdout, stderr } = await runCli(argv, { home, env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
    expect(stderr).toMatch(/^error: --seed: .*bad\.ndjson: record 3 at line 3: name is missing/);
    expect(existsSync(store)).toBe(false);
  });

  it("stops at an id that belongs to a different plant, unless it may be replaced", async () => {
    const home = await writeSeeds({ "a.ndjson": ferns, "b.csv": "id,name\n2,ivy\n" });
    const store = ["--store", `sqlite:${join(home, "plants.db")}`];
    await (await serve(home, [...store, "--seed", join(home, "a.ndjson")])).stop();
    const argv = [...store, "--seed", join(home, "b.csv")];
    const { exitCode, stderr } = await runCli(["serve", "--port", "0", ...argv], { home, env });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/b\.csv: record 1 at line 2: id 2 belongs to a different plant/);
    const replacing = await serve(home, [...argv, "--on-conflict", "replace"]);
    expect(replacing.stderr()).toContain("Seeds: 0 plants created, 0 unchanged, 1 replaced");
  });

  it.each([
    ["standard input", "-"],
    ["a pipe", "pipe"],
  ])("rejects %s, because it cannot be read again", async (_what, path) => {
    const home = await createTemporaryDirectory();
    execFileSync("mkfifo", [join(home, "pipe")]);
    const seed = path === "-" ? path : join(home, path);
    const store = join(home, "plants.db");
    const argv = ["serve", "--port", "0", "--store", `sqlite:${store}`, "--seed", seed];
    const { exitCode, stderr } = await runCli(argv, { home, env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      "cannot be read again at the next start: a durable store needs a file",
    );
    expect(existsSync(store)).toBe(false);
  });
});

describe("with a store in memory", () => {
  it("reads standard input", async () => {
    const home = await createTemporaryDirectory();
    const { stderr } = await serve(home, ["--store", "memory:", "--seed", "-"], { stdin: ferns });
    expect(stderr()).toContain("Seeds: 2 plants created");
  });

  it("reads a named pipe", async () => {
    const home = await createTemporaryDirectory();
    const pipe = join(home, "pipe");
    execFileSync("mkfifo", [pipe]);
    const writer = createWriteStream(pipe);
    writer.end(ferns);
    const [{ stderr }] = await Promise.all([
      serve(home, ["--store", "memory:", "--seed", pipe]),
      once(writer, "close"),
    ]);
    expect(stderr()).toContain("Seeds: 2 plants created");
  });

  it("stops on a signal while it waits for a seed, without serving", async () => {
    const home = await createTemporaryDirectory();
    const stdin = new PassThrough();
    const run = startCli(["serve", "--port", "0", "--store", "memory:", "--seed", "-"], {
      home,
      env,
      stdin,
      terminals: { stderr: true },
    });
    await run.saw("loading seeds");
    run.signal("SIGTERM");
    expect(await run.finished).toMatchObject({ exitCode: 0, stdout: "" });
  });
});

describe("a seed that cannot be loaded stops the start", () => {
  it.each<[rule: string, file: string, text: string | undefined, code: number, message: string]>([
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
    [
      "a table without its header",
      "p.csv",
      "1,a\n",
      2,
      "must begin with a row that names its columns",
    ],
    [
      "invalid JSON",
      "p.json",
      '{"id":1,\n"name":"a",\n}',
      3,
      "p.json:3:1): remove the comma before it",
    ],
    ["an incomplete array", "p.json", '[{"id":1,"name":"a"}', 2, "ends inside the array"],
    ["a missing file", "p.json", undefined, 2, "p.json does not exist"],
    ["a directory", ".", undefined, 2, "cannot be read: it is a directory"],
  ])("%s", async (_rule, file, text, code, message) => {
    const home = await writeSeeds(text === undefined ? {} : { [file]: text });
    for (const store of ["memory:", `sqlite:${join(home, "plants.db")}`]) {
      const limits = ["--max-body", "100"];
      const flags = ["--port", "0", "--store", store, ...limits, "--seed", join(home, file)];
      const { exitCode, stdout, stderr } = await runCli(["serve", ...flags], { home, env });
      expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: "" });
      expect(stderr).toMatch(/^error: /);
      expect(stderr).toContain(message);
    }
  });

  it.each([
    ["a missing file", "p.json", "does not exist"],
    ["a directory", ".", "cannot be read: it is a directory"],
  ])("%s is reported before the server listens", async (_rule, file, reason) => {
    const home = await createTemporaryDirectory();
    const { url } = await serve(home, ["--store", "memory:"]);
    const usedPort = new URL(url).port;
    const seed = join(home, file);
    const argv = ["serve", "--store", "memory:", "--port", usedPort, "--seed", seed];
    const { exitCode, stderr } = await runCli(argv, { home, env });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(`error: --seed: ${seed} ${reason}`);
  });

  it("standard input that is given twice", async () => {
    const argv = ["serve", "--store", "memory:", "--seed", "-", "--seed", "-"];
    const { exitCode, stderr } = await runCli(argv);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /^error: --seed - \(standard input\) is given twice: remove one of them/,
    );
  });

  it("an empty path", async () => {
    const { exitCode, stderr } = await runCli(["serve", "--seed", "a", "--seed", ""]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--seed must be a file, or - for standard input (got "")');
  });
});

it("100,000 plants are loaded and stored before the first request", async () => {
  const lines = Array.from({ length: 100_000 }, (_, id) => `{"id":${id},"name":"fern"}\n`);
  const home = await writeSeeds({ "plants.ndjson": lines.join("") });
  const flags = ["--store", `sqlite:${join(home, "plants.db")}`];
  const { url, stderr } = await serve(home, [...flags, "--seed", join(home, "plants.ndjson")], {
    terminals: allTerminals,
  });
  expect(stderr()).toContain("100000 plants created, 0 unchanged");
  expect(await create(url, '{"id":99999,"name":"fern"}')).toBe("unchanged");
});
