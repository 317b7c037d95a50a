/** The package in another program: the documented examples run, and the package does not affect the program. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compileProject, createProject } from "../helpers/node-project.ts";
import { root, run } from "../helpers/run.ts";

/** Reads the TypeScript programs in a file of the documentation. */
async function readExamples(path: string): Promise<string[]> {
  const text = await readFile(join(root, path), "utf8");
  return [...text.matchAll(/```ts\n([^]+?)```/g)].map(([, code = ""]) => code);
}

/** Compiles a program with the built package installed, and runs it to its end. */
async function runProgram(code: string): Promise<{ stdout: string; stderr: string }> {
  const nodeTypes = join(root, "node_modules/@types/node");
  const directory = await createProject({ "program.ts": code }, { "@types/node": nodeTypes });
  const lib = ["ES2022", "ESNext.Disposable"];
  await compileProject(directory, { lib, exactOptionalPropertyTypes: true, skipLibCheck: false });
  return run(process.execPath, [join(directory, "program.js")], { cwd: directory });
}

describe.each<[path: string, outputs: readonly string[]]>([
  ["README.md", [""]],
  [
    "src/manual/library.md",
    ["", "the id is taken\n", "1000\n", '[{"id":"2","name":"moss","tag":"pot"}]\ndeleted\n', ""],
  ],
])("the examples of %s", async (path, outputs) => {
  const examples = await readExamples(path);

  it("are complete programs, each with a known output", () => {
    expect(examples).toHaveLength(outputs.length);
  });

  it.each(outputs.map((stdout, index) => ({ stdout, number: index + 1 })))(
    "compile and run: $number",
    async ({ stdout, number }) => {
      expect(await runProgram(examples[number - 1] ?? "")).toEqual({ stdout, stderr: "" });
    },
  );
});

it("the types reject the values that the checks at run time reject", async () => {
  const code = `
    import { createClient, startPlantStore, type CreateManyResult } from "plantstore";
    const store = await startPlantStore({ listen: false, seed: new Set([{ id: 1n, name: "fern" }]) });
    const client = createClient({ ...store, retries: 0 });
    export const results: AsyncIterable<CreateManyResult> = client.createMany([]);
    const invalid = [
      // @ts-expect-error an id is a number or a bigint
      () => startPlantStore({ seed: [{ id: "1", name: "fern" }] }),
      // @ts-expect-error a misspelled option
      () => startPlantStore({ sede: [] }),
      // @ts-expect-error a status mode that does not exist
      () => startPlantStore({ statusMode: "https" }),
      // @ts-expect-error a string instead of a number
      () => startPlantStore({ faults: { failRate: "5%" } }),
      // @ts-expect-error an unknown option
      async () => createClient({ url: store.url, token: store.token, timeout: 5 }),
      // @ts-expect-error a string instead of a number
      () => client.createMany([], { concurrency: "5" }).next(),
      // @ts-expect-error a plant without a name
      () => client.create({ id: 1n }),
      // @ts-expect-error a string instead of a number or a bigint
      () => store.get("1"),
    ];
    for (const call of invalid) await call().then(() => console.log("accepted", call), () => {});
    await store.close();
  `;
  expect(await runProgram(code)).toEqual({ stdout: "", stderr: "" });
});

it("a store in a program adds no signal handlers or globals, and does not keep the program running", async () => {
  const program = `
    const known = process.eventNames();
    const { createClient, startPlantStore } = await import("plantstore");
    const globals = Reflect.ownKeys(globalThis);
    const plants = await startPlantStore();
    const client = createClient({ ...plants, retries: 0 });
    const { ok } = await client.create({ id: 1n, name: "fern" });
    const events = process.eventNames().filter((name) => !known.includes(name));
    const added = Reflect.ownKeys(globalThis).filter((key) => !globals.includes(key));
    await plants.close();
    const reason = await client.create({ id: 1n, name: "fern" }).catch((error) => error.reason);
    console.log(JSON.stringify({ ok, events, added: added.map(String), reason }));
  `;
  const { stdout, stderr } = await runProgram(program);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ ok: true, events: [], added: [], reason: "refused" });
});
