/** What only shows with processes of their own: crashes, starts at the same time, limits, the garbage collector. */
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import type { StoreEngine } from "../../../src/core/store.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { bundleProgram, run, start } from "./programs.ts";

async function createPath(): Promise<string> {
  return join(await createTemporaryDirectory(), "a", "plants.db");
}

async function open(path: string): Promise<StoreEngine> {
  const engine = await openSqliteEngine(path);
  onTestFinished(() => engine.close());
  return engine;
}

describe("a process that is killed while it writes", () => {
  it.each([1, 100, 3000])("loses none of its first %i acknowledged plants", async (count) => {
    const path = await createPath();
    const program = await bundleProgram("create-endlessly");
    const child = start(process.execPath, [program, path]);
    const exited = once(child, "exit");
    const acknowledged: bigint[] = [];
    // What comes through the pipe after the kill was acknowledged as well.
    for await (const line of createInterface({ input: child.stdout! })) {
      acknowledged.push(BigInt(line));
      if (acknowledged.length === count) child.kill("SIGKILL");
    }
    expect(await exited).toEqual([null, "SIGKILL"]);

    const engine = await open(path);
    for (const id of acknowledged) {
      expect(await engine.get(id)).toEqual({ id, name: `plant ${id}`, tag: "x".repeat(500) });
    }
  });
});

describe("processes that start at the same time on a new file", () => {
  it("all come up, and none loses a plant", async () => {
    const path = await createPath();
    const program = await bundleProgram("create-one");
    const ids = Array.from({ length: 8 }, (_, index) => `${index}`);
    const outcomes = await Promise.all(ids.map((id) => run(process.execPath, [program, path, id])));
    expect(outcomes).toEqual(ids.map(() => ({ exitCode: 0, stdout: "created\n", stderr: "" })));

    const engine = await open(path);
    for (const id of ids) expect((await engine.get(BigInt(id)))?.name).toBe(`plant ${id}`);
  });
});

describe("a limit on the size of files", () => {
  it("fails with full what does not fit, and nothing else", async () => {
    const program = await bundleProgram("create-large-and-small");
    const limited = 'ulimit -f 2048 && exec "$@"';
    const args = ["-c", limited, "sh", process.execPath, program, await createPath()];
    const { stdout } = await run("sh", args);
    expect(stdout).toBe("created\nfull\ncreated\ncreated\n");
  });
});

describe("the garbage collector", () => {
  it("does not take the database from under the statements", async () => {
    const program = await bundleProgram("collect-garbage");
    const outcome = await run(process.execPath, ["--expose-gc", program, await createPath()]);
    expect(outcome).toEqual({ exitCode: 0, stdout: "created\n", stderr: "" });
  });
});
