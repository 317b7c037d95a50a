/** Tests that need several processes: starts on one file, and the garbage collector. */
import { describe, expect, it } from "vitest";
import { bundleProgram, run } from "./programs.ts";
import { createPath, openEngine } from "./stores.ts";

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
