/** A client of openapi-typescript and openapi-fetch, generated from the OpenAPI document, compiles and keeps ids exact. */
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import openapiTypescript, { astToString } from "openapi-typescript";
import ts from "typescript";
import { expect, it } from "vitest";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
/** The packages of the program, and the directories that have them. */
const packages = {
  "openapi-fetch": "test/ecosystem/node_modules",
  "lossless-json": "node_modules",
  "@types": "node_modules",
};

/** A program with the generated types. Its id is a bigint. */
const program = `
import { stringify } from "lossless-json";
import createClient from "openapi-fetch";
import type { paths } from "./plant-store.ts";

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
console.log(JSON.stringify([created.response.status, name, rejected.response.status, error]));
// @ts-expect-error The id is required.
const incomplete: paths["/plants"]["post"]["requestBody"]["content"]["application/json"] = { name };
void incomplete;
`;

it("a generated client creates a plant with an id above 2^53", async () => {
  await using server = await startServer({ basePath: "/v1" });
  const document = await (await fetch(new URL("/openapi.json", server.url))).text();
  const types = await openapiTypescript(document, {
    transform: ({ format }) =>
      format === "int64"
        ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
        : undefined,
  });

  const directory = await createTemporaryDirectory();
  await mkdir(join(directory, "node_modules"));
  for (const [name, modules] of Object.entries(packages)) {
    const link = join(directory, "node_modules", name);
    await symlink(join(root, modules, name), link, "junction");
  }
  await writeFile(join(directory, "package.json"), '{"type":"module"}');
  await writeFile(join(directory, "plant-store.ts"), astToString(types));
  await writeFile(join(directory, "client.ts"), program);
  const compilerOptions = {
    target: "ES2022",
    module: "NodeNext",
    types: ["node"],
    strict: true,
    skipLibCheck: true,
    rewriteRelativeImportExtensions: true,
  };
  await writeFile(
    join(directory, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["*.ts"] }),
  );
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", directory]);

  const { stdout } = await run(process.execPath, [
    join(directory, "client.js"),
    server.url,
    testToken,
  ]);
  expect(JSON.parse(stdout)).toEqual([200, "fern", 400, 40900]);
  expect(await server.store.get(9007199254740993n)).toEqual({
    id: 9007199254740993n,
    name: "fern",
  });
  expect(await server.store.get(9007199254740992n)).toBeUndefined();
});
