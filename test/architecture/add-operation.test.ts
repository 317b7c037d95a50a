/** "Add an operation" of CONTRIBUTING, followed on a copy of the sources: the compiler names what is missing, and the rest derives. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../helpers/run.ts";
import { apply, compile, createCopy, type Edit } from "../helpers/source-copy.ts";

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
  const directory = await createCopy(["src"]);
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
