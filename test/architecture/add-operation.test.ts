/** "Add an operation" of CONTRIBUTING, followed on a copy of the sources: the compiler names what is missing, and the rest derives. */
import { execFile } from "node:child_process";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** A text of a file, and what follows it in the copy. */
type Edit = readonly [file: string, after: string, added: string];

const row: readonly Edit[] = [
  [
    "src/core/contract.ts",
    `delete: { method: "DELETE", path: "/plants/{id}", needsToken: true, set: "all" },`,
    `
  get: {
    method: "GET",
    path: "/plants/{id}",
    needsToken: true,
    set: "all",
    query: ["version"],
  },`,
  ],
];

/** What the compiler asks for: the parameter, the description and the function. */
const rest: readonly Edit[] = [
  [
    "src/core/parameters.ts",
    "  readonly after: bigint | undefined;",
    "\n  readonly version: number | undefined;",
  ],
  [
    "src/core/parameters.ts",
    `    toValue: (integer) => integer,
    example: 0,
  },`,
    `
  version: {
    description: "Version of the plant",
    min: 1n,
    max: 9n,
    notInteger: "limitInvalid",
    outOfRange: "limitInvalid",
    toValue: (integer) => (integer === undefined ? undefined : Number(integer)),
    example: 1,
  },`,
  ],
  [
    "src/core/openapi.ts",
    "  delete: describeDelete,",
    `
  get: (server) => ({
    operationId: "getPlant",
    summary: "Returns a plant",
    parameters: describeParameters("get"),
    responses: { 200: { description: "the plant" }, ...describeFailures("get", server, {}) },
  }),`,
  ],
  ["src/core/errors.ts", `only: ["delete"`, `, "get"`],
  ["src/server/operations.ts", `"create" | "deletePlant"`, ` | "get"`],
  [
    "src/server/operations.ts",
    "    delete: (call, { store }) => deletePlant(call, store, options),",
    `
    async get({ parameters: { id, version = 1 } }, { store }) {
      const plant = await store.get(id);
      if (plant === undefined) return toNoSuchPlantError(id);
      return { status: 200, body: toNewPlantJson(plant), headers: [["X-Version", \`\${version}\`]] };
    },`,
  ],
];

async function createCopy(): Promise<string> {
  const directory = await createTemporaryDirectory();
  await cp(join(root, "src"), join(directory, "src"), { recursive: true });
  await cp(join(root, "package.json"), join(directory, "package.json"));
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  const { compilerOptions } = JSON.parse(await readFile(join(root, "tsconfig.json"), "utf8")) as {
    compilerOptions: object;
  };
  const config = { compilerOptions, include: ["src"], exclude: ["src/server/docs/*.browser.js"] };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(config));
  return directory;
}

async function apply(directory: string, edits: readonly Edit[]): Promise<void> {
  for (const [file, after, added] of edits) {
    const path = join(directory, file);
    const text = await readFile(path, "utf8");
    expect(text.split(after), `${file}: ${after}`).toHaveLength(2);
    await writeFile(
      path,
      text.replace(after, () => after + added),
    );
  }
}

/** Compiles a copy. @returns the files with an error */
async function compile(directory: string): Promise<string[]> {
  try {
    await run("npx", ["tsc", "--noEmit", "--pretty", "false"], { cwd: directory });
    return [];
  } catch (error) {
    const { stdout } = error as { readonly stdout: string };
    return [...new Set(Array.from(stdout.matchAll(/^(\S+)\(\d+/gm), ([, file = ""]) => file))];
  }
}

const program = `
import { startPlantStore } from "./src/index.ts";

const results: unknown[] = [];
await using store = await startPlantStore({ operations: "all", listen: false, seed: [{ id: 7n, name: "fern" }] });
const headers = { authorization: \`Bearer \${store.token}\` };
for (const [method, path] of [
  ["GET", "/plants/7?version=2"],
  ["GET", "/plants/8"],
  ["GET", "/plants/7?version=x"],
  ["GET", "/plants/fern"],
  ["HEAD", "/plants/7"],
  ["PUT", "/plants/7"],
  ["DELETE", "/plants/7"],
]) {
  const response = await store.fetch(store.url + path, { method, headers });
  const text = await response.text();
  const { error } = text === "" ? {} : JSON.parse(text);
  results.push([response.status, error ?? response.headers.get("x-version"), response.headers.get("allow")]);
}
const { paths } = await (await store.fetch(store.url + "/openapi.json")).json();
results.push(Object.keys(paths["/plants/{id}"]), paths["/plants/{id}"].get.parameters.map(({ name }) => name));
await using create = await startPlantStore({ listen: false });
results.push((await create.fetch(create.url + "/plants/7", { headers })).status);
console.log(JSON.stringify(results));
`;

it("a row makes the compiler name the files that an operation needs, and they are at most six", async () => {
  const directory = await createCopy();
  await apply(directory, row);
  const missing = await compile(directory);
  expect(missing).toEqual(
    expect.arrayContaining(["src/core/openapi.ts", "src/server/operations.ts"]),
  );
  await apply(directory, rest);
  expect(await compile(directory)).toEqual([]);
  const files = new Set([...row, ...rest].map(([file]) => file));
  expect(files.size).toBeLessThanOrEqual(6);
  for (const file of missing) expect(files).toContain(file);

  // Only a store in a file uses it, but none starts without it.
  await writeFile(join(directory, "src/store/sqlite/sqlite-worker.js"), "");
  await writeFile(join(directory, "program.ts"), program);
  const { stdout } = await run("npx", ["tsx", "program.ts"], { cwd: directory });
  expect(JSON.parse(stdout)).toEqual([
    [200, "2", null],
    [400, 40401, null],
    [400, 42207, null],
    [400, 42202, null],
    [200, "1", null],
    [405, 40500, "DELETE, GET, HEAD"],
    [204, null, null],
    ["delete", "get"],
    ["id", "version", "X-Request-Id"],
    404,
  ]);
}, 240_000);
