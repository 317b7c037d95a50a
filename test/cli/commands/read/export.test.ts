/** `plantstore export` prints every plant of a store exactly, and waits for its reader. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Io } from "../../../../src/cli/io.ts";
import { main } from "../../../../src/cli/main.ts";
import type { NewPlant } from "../../../../src/core/plant.ts";
import { listAll } from "../../../helpers/all-plants.ts";
import { anyPlant } from "../../../helpers/any-plant.ts";
import { parseNewPlant } from "../../../helpers/parse-new-plant.ts";
import { startServer } from "../../../helpers/plant-server.ts";
import { runCli, startCli } from "../../../helpers/run-cli.ts";
import { createSqliteStore } from "../../../helpers/sqlite-store.ts";
import { bundleProgram, start } from "../../../store/sqlite/programs.ts";

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

function sendPlants(count: number, name = "plant"): readonly NewPlant[] {
  return Array.from({ length: count }, (_, index) => ({ id: BigInt(index), name }));
}

/** Exports to a stream. @returns the end of the command */
async function exportTo(stdout: Writable, url: string) {
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
    onSignal: () => () => undefined,
  };
  // As in a process: the write reports the error.
  stdout.on("error", () => undefined);
  const exitCode = await main(["export", "--store", url], io as Io);
  return { exitCode, stderr };
}

const anyPlants = fc.uniqueArray(anyPlant, {
  selector: ({ id }) => id,
  maxLength: 300,
  size: "medium",
});

describe("every plant of a store", () => {
  it.each([0, 1, 2, 100, 101, 1000])("is exported once: %i plants", async (count) => {
    const plants = sendPlants(count);
    expect(await exportAll(await createSqliteStore(plants))).toEqual(plants);
  });

  it("is exact, with any id and any strings", async () => {
    await fc.assert(
      fc.asyncProperty(anyPlants, async (plants) => {
        const url = await createSqliteStore(plants);
        const sorted = plants.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(await exportAll(url)).toEqual(sorted);
      }),
      { numRuns: 30 },
    );
  });

  it("is the same in an empty store after `create` has read the export", async () => {
    await fc.assert(
      fc.asyncProperty(anyPlants, async (plants) => {
        const url = await createSqliteStore(plants);
        const { stdout } = await runCli(["export", "--store", url]);
        await using server = await startServer();
        const args = ["create", "--json", "--quiet", "-"];
        expect(await runCli(args, { server, stdin: stdout })).toPrint("");
        const sorted = plants.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(await listAll(server.store)).toEqual(sorted);
      }),
      { numRuns: 20 },
    );
  });
});

it("an export during other writes has every plant that another process acknowledged before, and each id once", async () => {
  const url = await createSqliteStore([]);
  const program = await bundleProgram("create-endlessly");
  const child = start(process.execPath, [program, url.replace("sqlite:", "")]);
  const acknowledged = new Set<bigint>();
  createInterface({ input: child.stdout! }).on("line", (line) => acknowledged.add(BigInt(line)));
  for (const count of [1, 300, 1000]) {
    await expect.poll(() => acknowledged.size).toBeGreaterThanOrEqual(count);
    const before = [...acknowledged];
    const ids = (await exportAll(url)).map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    const exported = new Set(ids);
    expect(exported.size).toBe(ids.length);
    expect(before.filter((id) => !exported.has(id))).toEqual([]);
  }
});

/** Creates plants of several pages. */
function createPages(): readonly NewPlant[] {
  return sendPlants(2000, "n".repeat(1000));
}

describe("the output", () => {
  it("is awaited: the store is not read further until the reader continues", async () => {
    const url = await createSqliteStore(createPages());
    const held: (() => void)[] = [];
    let text = "";
    const slow = new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        held.push(done);
      },
    });
    const exported = exportTo(slow, url);
    await expect.poll(() => held.length).toBe(1);
    // An export that does not wait would write more in this time.
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

  it("that is closed ends it with 141 and no message", async () => {
    const plants = createPages();
    const url = await createSqliteStore(plants);
    const run = startCli(["export", "--store", url]);
    await run.saw("\n");
    run.closeStdout();
    const { stdout, ...end } = await run.finished;
    expect(end).toEqual({ exitCode: 141, stderr: "" });
    expect(stdout.split("\n").length).toBeLessThan(plants.length);
  });
});

describe("a signal", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends an export after a whole line, and exits with %i", async (signal, code) => {
    const plants = createPages();
    const url = await createSqliteStore(plants);
    const run = startCli(["export", "--store", url]);
    await run.saw("\n");
    expect(run.signal(signal)).toBe(true);
    const { exitCode, stdout, stderr } = await run.finished;
    const exported = parseLines(stdout);
    expect({ exitCode, stderr }).toEqual({
      exitCode: code,
      stderr: `error: stopped by ${signal}: some plants are missing in the output
Append the rest:
  plantstore export --after ${exported.length - 1} --store ${url} >> FILE
`,
    });
    expect(exported.length).toBeLessThan(plants.length);
    expect(exported).toEqual(plants.slice(0, exported.length));
    expect(run.signal(signal), "no handler remains").toBe(false);
  });
});
