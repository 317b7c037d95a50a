/** `plantstore export`: all of a store, exactly, at the pace at which it is taken. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";
import { int64Max, int64Min } from "../../src/core/int64.ts";
import { type NewPlant, parseNewPlant } from "../../src/core/plant.ts";
import { openStore } from "../../src/store/open-store.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { allTerminals, runCli, startCli } from "../helpers/run-cli.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";
import { bundleProgram, start } from "../store/sqlite/programs.ts";

/** The plants of an export, read by the rules of the service. */
function parseLines(text: string): readonly NewPlant[] {
  expect(text === "" || text.endsWith("\n")).toBe(true);
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => parseNewPlant(Buffer.from(line)));
}

async function exportAll(url: string): Promise<readonly NewPlant[]> {
  const { exitCode, stdout, stderr } = await runCli(["export", "--store", url]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return parseLines(stdout);
}

function createPlants(count: number, name = "plant"): readonly NewPlant[] {
  return Array.from({ length: count }, (_, index) => ({ id: BigInt(index), name }));
}

/** Exports to a stream; says how it ended. */
async function exportTo(
  stdout: Writable,
  url: string,
): Promise<{ exitCode: number; stderr: string }> {
  let stderr = "";
  const io: Partial<Io> = {
    stdout,
    stderr: new Writable({
      write(chunk: Buffer, _encoding, done) {
        stderr += chunk.toString();
        done();
      },
    }),
    env: {},
    nowMs: () => 0,
    readCommandLine: () => undefined,
    onSignal: () => () => undefined,
  };
  // As in the world of a process: the write says what is wrong.
  stdout.on("error", () => undefined);
  const exitCode = await main(["export", "--store", url], io as Io);
  return { exitCode, stderr };
}

const anyString = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());
const anyPlant: fc.Arbitrary<NewPlant> = fc.record(
  {
    id: fc.oneof(fc.bigInt({ min: int64Min, max: int64Max }), fc.bigInt({ min: -9n, max: 9n })),
    name: anyString,
    tag: anyString,
  },
  { requiredKeys: ["id", "name"], noNullPrototype: true },
);
const anyPlants = fc.uniqueArray(anyPlant, {
  selector: ({ id }) => id,
  maxLength: 300,
  size: "medium",
});

describe("every plant of a store", () => {
  it("is one NewPlant as JSON on a line, in the order of the ids", async () => {
    const url = await createSqliteStore([
      { id: int64Max, name: "last" },
      { id: 1n, name: "fern", tag: "pot" },
      { id: int64Min, name: "first", tag: "" },
      { id: -1n, name: "a\0b\u2028" },
    ]);
    expect(await runCli(["export", "--store", url])).toEqual({
      exitCode: 0,
      stdout: [
        `{"id":${int64Min},"name":"first","tag":""}\n`,
        '{"id":-1,"name":"a\\u0000b\u2028"}\n',
        '{"id":1,"name":"fern","tag":"pot"}\n',
        `{"id":${int64Max},"name":"last"}\n`,
      ].join(""),
      stderr: "",
    });
  });

  it.each([0, 1, 2, 100, 101, 1000])("of %i is there once", async (count) => {
    const plants = createPlants(count);
    expect(await exportAll(await createSqliteStore(plants))).toEqual(plants);
  });

  it("is exact, whatever its id and its strings are", async () => {
    await fc.assert(
      fc.asyncProperty(anyPlants, async (plants) => {
        const url = await createSqliteStore(plants);
        const sorted = plants.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(await exportAll(url)).toEqual(sorted);
      }),
      { numRuns: 30 },
    );
  });

  it("is the same in an empty store once `create` has read what was exported", async () => {
    const nothing = { exitCode: 0, stdout: "", stderr: "" };
    await fc.assert(
      fc.asyncProperty(anyPlants, async (plants) => {
        const url = await createSqliteStore(plants);
        const { stdout } = await runCli(["export", "--store", url]);
        await using server = await startServer();
        const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
        const args = ["create", "--many", "--quiet", "-"];
        expect(await runCli(args, { stdin: stdout, env })).toEqual(nothing);
        const sorted = plants.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(await server.store.list({ limit: plants.length + 1 })).toEqual(sorted);
      }),
      { numRuns: 20 },
    );
  });

  it("is escaped on a terminal for what that would obey, and the same JSON", async () => {
    const name = "\u001b[31m \u202e \0 \u{1F331}";
    const url = await createSqliteStore([{ id: 1n, name }]);
    const { stdout } = await runCli(["export", "--store", url], { terminals: allTerminals });
    expect(stdout).toMatch(/^[ -~\u{1F331}]*\n$/u);
    expect(JSON.parse(stdout)).toEqual({ id: 1, name });
  });
});

describe("while others write", () => {
  it("what was acknowledged before is there, by the same process", async () => {
    const plants = createPlants(500);
    const url = await createSqliteStore(plants);
    const store = await openStore(url);
    onTestFinished(() => store.close());
    const newest = { id: 1_000_000n, name: "newest" };
    await store.create(newest, "reject");

    const exported = exportAll(url);
    const created = store.create({ id: 2_000_000n, name: "meanwhile" }, "reject");
    const ids = (await exported).map(({ id }) => id).filter((id) => id !== 2_000_000n);
    expect(ids).toEqual([...plants, newest].map(({ id }) => id));
    expect(await created).toBe("created");
  });

  it("what was acknowledged before is there, by another process, and each id once", async () => {
    const url = await createSqliteStore([]);
    const program = await bundleProgram("create-endlessly");
    const child = start(process.execPath, [program, url.replace("sqlite:", "")]);
    const acknowledged = new Set<bigint>();
    createInterface({ input: child.stdout! }).on("line", (line) => acknowledged.add(BigInt(line)));
    for (const count of [1, 300, 1000]) {
      while (acknowledged.size < count) await sleep(5);
      const before = [...acknowledged];
      const ids = (await exportAll(url)).map(({ id }) => id);
      expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
      const exported = new Set(ids);
      expect(exported.size).toBe(ids.length);
      expect(before.filter((id) => !exported.has(id))).toEqual([]);
    }
  });
});

describe("the output", () => {
  it("is waited for: nothing more is read until what was written is taken", async () => {
    const url = await createSqliteStore(createPlants(2000));
    const held: (() => void)[] = [];
    let text = "";
    const slow = new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        held.push(done);
      },
    });
    const exported = exportTo(slow, url);
    while (held.length === 0) await sleep(5);
    await sleep(50);
    expect({ writes: held.length, buffered: slow.writableLength }).toEqual({
      writes: 1,
      buffered: text.length,
    });

    const release = setInterval(() => held.pop()?.());
    onTestFinished(() => clearInterval(release));
    expect(await exported).toEqual({ exitCode: 0, stderr: "" });
    expect(parseLines(text)).toHaveLength(2000);
  });

  it("that nobody reads any more ends it quietly, with 141", async () => {
    const url = await createSqliteStore(createPlants(2000));
    const run = startCli(["export", "--store", url]);
    await run.saw("\n");
    run.closeStdout();
    const { exitCode, stdout, stderr } = await run.finished;
    expect({ exitCode, stderr }).toEqual({ exitCode: 141, stderr: "" });
    expect(stdout.length).toBeLessThan(2000);
  });

  it("that is full is an error", async () => {
    const url = await createSqliteStore(createPlants(1));
    const full = new Writable({
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" })),
    });
    expect(await exportTo(full, url)).toEqual({
      exitCode: 1,
      stderr: "error: the output could not be written: ENOSPC: no space left on device\n",
    });
  });
});

describe("a signal", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends it after a whole line, and says so: exit %i", async (signal, code) => {
    const plants = createPlants(2000);
    const run = startCli(["export", "--store", await createSqliteStore(plants)]);
    await run.saw("\n");
    expect(run.signal(signal)).toBe(true);
    const { exitCode, stdout, stderr } = await run.finished;
    expect({ exitCode, stderr }).toEqual({
      exitCode: code,
      stderr: `error: stopped by ${signal}: some plants are missing in the output\n`,
    });
    const exported = parseLines(stdout);
    expect(exported.length).toBeLessThan(2000);
    expect(exported).toEqual(plants.slice(0, exported.length));
    expect(run.signal(signal), "nobody listens any more").toBe(false);
  });
});
