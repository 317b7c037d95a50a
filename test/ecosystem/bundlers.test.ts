/** The client in a program that webpack bundles as an ES module for Node. */
import { join } from "node:path";
import { expect, it } from "vitest";
import webpack from "webpack";
import { createProject } from "../helpers/node-project.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { run } from "../helpers/run.ts";

const program = `
import { createClient } from "plantstore/client";

const [, , url, token] = process.argv;
const client = createClient({ url, token });

const plants = [{ id: 1n, name: "fern" }, { id: 2n, name: "moss" }];
const results = [(await client.create(plants[0])).result];
for await (const { status } of client.createMany(plants)) {
  results.push(status);
}
console.log(results.join());
`;

function bundle(directory: string): Promise<string> {
  const path = join(directory, "out");
  const compiler = webpack({
    mode: "development",
    context: directory,
    entry: "./program.mjs",
    target: "node",
    devtool: false,
    experiments: { outputModule: true },
    output: { path, filename: "program.mjs", module: true, chunkFormat: "module" },
  });
  return new Promise((resolve, reject) => {
    compiler.run((error, stats) => {
      if (error) reject(error);
      else if (stats?.hasErrors()) reject(new Error(stats.toString()));
      else resolve(join(path, "program.mjs"));
    });
  });
}

it("the client creates plants from inside an ES module of webpack", async () => {
  await using server = await startServer();
  const directory = await createProject({ "program.mjs": program });
  const script = await bundle(directory);
  const { stdout, stderr } = await run(process.execPath, [script, server.url, testToken]);
  expect({ stdout, stderr }).toEqual({ stdout: "created,unchanged,created\n", stderr: "" });
});
