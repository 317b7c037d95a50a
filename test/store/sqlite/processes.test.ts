/** Tests that need several processes: crashes, writers of one file, limits and the garbage collector. */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { NewPlant } from "../../../src/core/plant.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { listAll } from "../../helpers/all-plants.ts";
import { bundleProgram, run, start } from "./programs.ts";
import { connect, createPath, openEngine } from "./stores.ts";

describe("a process that is killed while it writes", () => {
  const rounds = 20;

  /** Runs the program, kills it at a random moment, and returns the ids that it acknowledged. */
  async function createUntilKilled(program: string, path: string, firstId: bigint) {
    const child = start(process.execPath, [program, path, `${firstId}`]);
    const exited = once(child, "exit");
    const acknowledged: bigint[] = [];
    // Lines that arrive after the kill were acknowledged before it.
    for await (const line of createInterface({ input: child.stdout! })) {
      if (acknowledged.push(BigInt(line)) > 1) continue;
      void sleep(Math.random() * 100).then(() => child.kill("SIGKILL"));
    }
    expect(await exited).toEqual([null, "SIGKILL"]);
    return acknowledged;
  }

  /** Returns the plant that the program created with an id. */
  function toPlant(id: bigint): NewPlant {
    return { id, name: `plant ${id}`, tag: "x".repeat(Number(id % 2000n)) };
  }

  it(`has stored every acknowledged plant, and no plant in part, ${rounds} times`, async () => {
    const path = await createPath();
    const program = await bundleProgram("create-endlessly");
    const acknowledged: bigint[] = [];
    for (let round = 1; round <= rounds; round++) {
      const firstId = BigInt(round) * 1_000_000n;
      acknowledged.push(...(await createUntilKilled(program, path, firstId)));

      const engine = await openSqliteEngine(path);
      const [replaced, ...plants] = await listAll(engine);
      await engine.close();
      expect(plants).toEqual(plants.map(({ id }) => toPlant(id)));
      const stored = new Set(plants.map(({ id }) => id));
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
      expect(replaced?.name).toMatch(/^(\d+ )\1{999}$/);
      expect(replaced?.tag).toBe(replaced?.name);
    }
    expect(acknowledged.length).toBeGreaterThan(rounds);

    const check = connect(path).prepare("PRAGMA integrity_check");
    expect(check.all()).toEqual([{ integrity_check: "ok" }]);
  });
});

describe("processes that start at the same time on a new file", () => {
  it("all start, and lose no plant", async () => {
    const path = await createPath();
    const program = await bundleProgram("create-plant");
    const ids = Array.from({ length: 8 }, (_, index) => `${index}`);
    const outcomes = await Promise.all(ids.map((id) => run(process.execPath, [program, id, path])));
    expect(outcomes).toEqual(ids.map(() => ({ exitCode: 0, stdout: "created\n", stderr: "" })));

    const engine = await openEngine(path);
    for (const id of ids) expect((await engine.get(BigInt(id)))?.name).toBe(`plant ${id}`);
  });
});

describe("two processes that create the same ids on one file", () => {
  it("agree on one winner of each", async () => {
    const path = await createPath();
    const program = await bundleProgram("create-colliding");
    const names = ["up", "down"];
    const outcomes = await Promise.all([
      run(process.execPath, [program, path, "up", "down"]),
      run(process.execPath, [program, path, "down", "up"]),
    ]);
    const results = outcomes.map(({ stdout }) => stdout.trim().split("\n"));
    expect(results.map(({ length }) => length)).toEqual([2000, 2000]);

    const engine = await openEngine(path);
    const plants = (await listAll(engine)).filter(({ id }) => id > 0n);
    expect(plants.map(({ id }) => Number(id))).toEqual(plants.map((_, index) => index + 1));
    const creators = plants.map(({ id, name, tag }) => {
      const both = results.map((of) => of[Number(id) - 1]);
      const isStored = (result: string): boolean => names[both.indexOf(result)] === name;
      const rules = [
        { results: new Set(["created", "unchanged"]), isRight: name === "shared" },
        { results: new Set(["conflict", "created"]), isRight: isStored("created") },
        { results: new Set(["created", "replaced"]), isRight: isStored("replaced") },
      ];
      expect({ results: new Set(both), isRight: true }).toEqual(rules[Number(id % 3n)]);
      expect(tag).toBe(name);
      return names[both.indexOf("created")];
    });
    // The two meet after every hundred, so that each is the first to create some ids.
    expect(new Set(creators)).toEqual(new Set(names));
  });
});

describe("the garbage collector", () => {
  // These programs load SQLite on their main thread.
  const flags = ["--expose-gc", "--disable-warning=ExperimentalWarning"];

  it("does not collect a database whose statements are in use", async () => {
    const program = await bundleProgram("collect-garbage");
    const outcome = await run(process.execPath, [...flags, program, await createPath()]);
    expect(outcome).toEqual({ exitCode: 0, stdout: "created\n", stderr: "" });
  });

  it("collects the plants of all creates that have ended", async () => {
    const program = await bundleProgram("forget-plants");
    const outcome = await run(process.execPath, [...flags, program, await createPath()]);
    expect(outcome).toEqual({ exitCode: 0, stdout: "2\n0\n", stderr: "" });
  });
});
