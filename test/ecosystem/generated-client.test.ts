/** A client of openapi-typescript and openapi-fetch, generated as the manual says, compiles and keeps ids exact. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compileProject, createProject } from "../helpers/node-project.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { root, run } from "../helpers/run.ts";
import { createHome, runShell } from "../helpers/shell.ts";

const modules = join(root, "test/ecosystem/node_modules");
const generator = join(modules, "openapi-typescript/bin/cli.js");
const packages = {
  "openapi-fetch": join(modules, "openapi-fetch"),
  "lossless-json": join(root, "node_modules/lossless-json"),
  "@types": join(root, "node_modules/@types"),
};

/** A program with the generated types. Its id is a bigint. */
const program = `
import { parse, stringify } from "lossless-json";
import createClient from "openapi-fetch";
import type { paths } from "./plants.js";

const [baseUrl = "", token = ""] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl,
  headers: { Authorization: \`Bearer \${token}\` },
  bodySerializer: (body) => stringify(body) ?? "",
});
const created = await client.POST("/plants", { body: { id: 9007199254740993n, name: "fern" } });
const name: string | undefined = created.data?.name;
const rejected = await client.POST("/plants", { body: { id: 9007199254740993n, name: "moss" } });
const error: number | undefined = rejected.error?.error;
const query = { after: 9007199254740992n, limit: 1 };
const listed = await client.GET("/plants", { params: { query }, parseAs: "text" });
const [plant] = parse(listed.data ?? "", undefined, BigInt) as { id: bigint; name: string }[];
const id = plant?.id ?? 0n;
const del = async () => client.DELETE("/plants/{id}", { params: { path: { id } } });
const [deleted, absent] = [await del(), await del()];
const absence: number | undefined = absent.error?.error;
console.log(JSON.stringify([created.response.status, name, rejected.response.status, error]));
console.log(JSON.stringify([\`\${id}\`, plant?.name, deleted.response.status, absence]));
// @ts-expect-error The id is required.
const incomplete: paths["/plants"]["post"]["requestBody"]["content"]["application/json"] = { name };
void incomplete;
`;

it("a generated client creates, lists and deletes a plant with an id above 2^53", async () => {
  await using server = await startServer({ basePath: "/v1", operations: "all" });
  const manual = await readFile(join(root, "src/manual/test.md"), "utf8");
  const [, section = ""] = manual.split("\n## With a generated client\n");
  const [, commands = "", example = ""] = /```sh\n(.+?)```.+?```ts\n(.+?)```/s.exec(section) ?? [];
  const files = { "generated.ts": example, "client.ts": program };
  const directory = await createProject(files, packages);

  const home = await createHome({ npx: `shift; exec '${process.execPath}' '${generator}' "$@"` });
  const generated = await runShell("sh", ["-c", commands], { ...home, HOME: directory });
  expect(generated).toMatchObject({ code: 0, stdout: "" });
  await compileProject(directory, { skipLibCheck: true });

  const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
  const { stdout: printed } = await run(process.execPath, [join(directory, "generated.js")], {
    env,
  });
  expect(printed).toBe("[ { id: 9007199254740993n, name: 'fern' } ]\n");

  const args = [join(directory, "client.js"), server.url, testToken];
  const { stdout } = await run(process.execPath, args);
  const lines = stdout.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    [200, "fern", 400, 40900],
    ["9007199254740993", "fern", 204, 40401],
  ]);
  expect(await server.store.get(9007199254740993n)).toBeUndefined();
});
