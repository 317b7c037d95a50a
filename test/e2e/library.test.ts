/** The package in another program: the README's examples compile and run, and it leaves the program alone. */
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = await readFile(join(root, "README.md"), "utf8");
const examples = [...readme.matchAll(/```ts\n([^]+?)```/g)].map(([, code = ""]) => code);

/** Compiles a program that has the built package installed, strictly, and runs it to its end. */
async function runProgram(code: string): Promise<{ stdout: string; stderr: string }> {
  const directory = await createTemporaryDirectory();
  await mkdir(join(directory, "node_modules/@types"), { recursive: true });
  await symlink(root, join(directory, "node_modules/plantstore"), "junction");
  const nodeTypes = join(root, "node_modules/@types/node");
  await symlink(nodeTypes, join(directory, "node_modules/@types/node"), "junction");
  await writeFile(join(directory, "package.json"), '{"type":"module"}');
  await writeFile(join(directory, "program.ts"), code);
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2022", "ESNext.Disposable"],
    module: "NodeNext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  };
  const config = { compilerOptions, include: ["program.ts"] };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(config));
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", directory]);
  return run(process.execPath, [join(directory, "program.js")], { cwd: directory });
}

describe("the README's examples compile and do what they say", () => {
  it("there are two", () => {
    expect(examples).toHaveLength(2);
  });

  it.each([
    ["a plant store for a test", 0, ""],
    ["a client", 1, "taken\n"],
  ])("%s", async (_name, index, stdout) => {
    expect(await runProgram(examples[index] ?? "")).toEqual({ stdout, stderr: "" });
  });
});

it("running it leaves the program alone: no signal handlers, no globals, nothing that keeps it running", async () => {
  const program = `
    const known = process.eventNames();
    const { createClient, createPlantStore } = await import("plantstore");
    const globals = Reflect.ownKeys(globalThis);
    const plants = await createPlantStore();
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
