/** The examples of `plantstore help test`, and Jest, in projects of their own that have the built package installed. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findBrowser } from "../helpers/installed-programs.ts";
import { createProject } from "../helpers/node-project.ts";
import { root, run } from "../helpers/run.ts";

const modules = fileURLToPath(new URL("node_modules", import.meta.url));
const manual = await readFile(join(root, "src/manual/test.md"), "utf8");

/** Creates a project with one example of the manual. */
function createExample(file: string, packages: Record<string, string> = {}): Promise<string> {
  return createProject({ [file]: readExample(file) }, packages);
}

/** Reads an example of the manual, which begins with the name of its file. */
function readExample(file: string): string {
  const blocks = [...manual.matchAll(/```[jt]s\n([^]+?)```/g)].map(([, code = ""]) => code);
  const code = blocks.find((block) => block.startsWith(`// ${file}\n`));
  if (code === undefined) throw new Error(`the manual has no example ${file}`);
  return code;
}

function runNode(directory: string, args: readonly string[]) {
  const env = { PATH: process.env["PATH"], HOME: directory, NO_COLOR: "1" };
  return run(process.execPath, args, { cwd: directory, env });
}

/** Starts the server of an example, sends a plant to it, and stops it. */
const servers = {
  express: `
    const listening = example.app.listen(0, "127.0.0.1");
    await new Promise((resolve) => listening.once("listening", resolve));
    const { ok } = await create({ url: "http://127.0.0.1:" + listening.address().port });
    listening.close();
  `,
  fastify: `
    const { ok } = await create({ url: await example.app.listen({ port: 0 }) });
    await example.app.close();
  `,
  hono: `
    const { ok } = await create({ url: "http://a", fetch: example.app.request });
  `,
  msw: `
    example.server.listen({ onUnhandledRequest: "error" });
    const { ok } = await create({ url: "https://plants.example", fetch });
    example.server.close();
  `,
};

describe("the examples of the manual", () => {
  it("run in vitest", async () => {
    const vitest = join(root, "node_modules/vitest");
    const directory = await createExample("plants.test.ts", { vitest });
    const args = [join(vitest, "vitest.mjs"), "run", "--root", directory];
    const { stdout } = await runNode(directory, args);
    expect(stdout).toMatch(/Tests +1 passed/);
  });

  it("run in node:test", async () => {
    const file = "plants.test.mjs";
    const directory = await createExample(file);
    const { stdout } = await runNode(directory, ["--test", file]);
    expect(stdout).toMatch(/pass 1\n/);
  });

  // Without a browser, the end of the run reports it.
  it.skipIf(findBrowser() === undefined)("run in Playwright", async () => {
    const playwright = join(modules, "@playwright/test");
    const directory = await createExample("plants.spec.ts", { "@playwright/test": playwright });
    const executablePath = findBrowser();
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    const config = { use: { launchOptions: { executablePath, args } }, reporter: "line" };
    const configPath = join(directory, "playwright.config.js");
    await writeFile(configPath, `export default ${JSON.stringify(config)};`);
    const cli = [join(playwright, "cli.js"), "test", "--config", configPath];
    const { stdout } = await runNode(directory, cli);
    expect(stdout).toContain("1 passed");
  });

  it.each(Object.entries(servers))("run in a server of %s", async (name, send) => {
    const file = `${name}.mjs`;
    const program = `
      import { createClient } from "plantstore";
      import * as example from "./${file}";
      import { store } from "./store.mjs";
      const create = (options) =>
        createClient({ ...options, token: "chosen" }).create({ id: 1n, name: "fern" });
      ${send}
      console.log(ok, await store.all());
      await store.close();
    `;
    const files = { [file]: readExample(file), "store.mjs": readExample("store.mjs") };
    const packages = { [name]: join(modules, name) };
    const directory = await createProject({ ...files, "program.mjs": program }, packages);
    const stdout = "true [ { id: 1n, name: 'fern' } ]\n";
    expect(await runNode(directory, ["program.mjs"])).toEqual({ stdout, stderr: "" });
  });
});

it("the RetryAgent of undici stores a plant in spite of faults", async () => {
  const program = `
    import { startPlantStore } from "plantstore";
    import { Agent, request, RetryAgent } from "undici";
    const faults = { first: ["fail", "drop"] };
    const store = await startPlantStore({ statusMode: "http", faults });
    const retry = { methods: ["POST"], statusCodes: [503], maxRetries: 20 };
    const dispatcher = new RetryAgent(new Agent(), retry);
    const { statusCode } = await request(store.url + "/plants", {
      method: "POST",
      headers: { authorization: "Bearer " + store.token, "content-type": "application/json" },
      body: '{"id":1,"name":"fern"}',
      dispatcher,
    });
    console.log(statusCode, await store.all());
    await dispatcher.close();
    await store.close();
  `;
  const packages = { undici: join(root, "node_modules/undici") };
  const directory = await createProject({ "program.mjs": program }, packages);
  const stdout = "200 [ { id: 1n, name: 'fern' } ]\n";
  expect(await runNode(directory, ["program.mjs"])).toEqual({ stdout, stderr: "" });
});

/** Programs whose framework reads the body before the store gets it. */
const earlyReaders = {
  express: `
import express from "express";
const app = express().use(express.json()).use(store.listener);
const server = app.listen(0, "127.0.0.1", () => send("http://127.0.0.1:" + server.address().port));
`,
  fastify: `
import fastify from "fastify";
const app = fastify();
app.all("/*", (request, reply) => {
  reply.hijack();
  store.listener(request.raw, reply.raw);
});
send(await app.listen({ port: 0 }));
`,
};

it.each(Object.entries(earlyReaders))(
  "a body that %s has read is an error that names express.json()",
  async (name, program) => {
    const start = `
import { createClient, startPlantStore } from "plantstore";
const failures = [];
const onError = ({ message }) => failures.push(message);
const store = await startPlantStore({ listen: false, token: "chosen", onError });
async function send(url) {
  const { error } = await createClient({ url, token: "chosen" }).create({ id: 1n, name: "fern" });
  console.log(error.error, error.message, failures[0] === error.message);
  process.exit();
}
`;
    const packages = { [name]: join(modules, name) };
    const directory = await createProject({ "program.mjs": start + program }, packages);
    const { stdout } = await runNode(directory, ["program.mjs"]);
    expect(stdout).toBe(
      "50000 the body of the request was read before: use store.listener before express.json() and other parsers of bodies true\n",
    );
  },
);

const jestArguments = ["--experimental-vm-modules", join(modules, "jest/bin/jest.js")];

/** Runs Jest on CommonJS in a project with examples of the manual, and files besides. */
async function runJest(examples: readonly string[], files: Readonly<Record<string, string>>) {
  const packages = { jest: join(modules, "jest") };
  const environment = { "jest-environment-jsdom": join(modules, "jest-environment-jsdom") };
  const all = { "package.json": "{}", ...files };
  for (const file of examples) Object.assign(all, { [file]: readExample(file) });
  const directory = await createProject(all, { ...packages, ...environment });
  return runNode(directory, [...jestArguments, "--testTimeout=60000"]);
}

/** A test of a page, which sends a plant to the store that Jest has started. */
const jsdomTest = `
test("creates a plant", async () => {
  const { createClient } = await import("plantstore/client");
  const { PLANTS_URL: url, PLANTS_TOKEN: token } = process.env;
  const response = await createClient({ url, token }).create({ id: 1n, name: "fern" });
  document.body.textContent = response.plant.name;
  expect(document.body.innerHTML).toBe("fern");
});
`;

describe("in Jest on CommonJS, the examples of the manual run", () => {
  it("in Node", async () => {
    const { stderr } = await runJest(["plants.test.js"], {});
    expect(stderr).toMatch(/Tests: +1 passed/);
  });

  it("in jsdom, with a store that Jest starts", async () => {
    const examples = ["jest.config.js", "jest.setup.js", "jest.store.js", "jest.end.js"];
    const { stderr } = await runJest(examples, { "page.test.js": jsdomTest });
    expect(stderr).toMatch(/Tests: +1 passed/);
  });
});

/** Uses the library where errors of Node are of another realm. */
const jestTest = `
import { createClient, startPlantStore, UnavailableError } from "plantstore";

let store;
afterEach(() => store.close());

test("creates in a new file, and fails once the server has stopped", async () => {
  store = await startPlantStore({ store: "sqlite:plants.db" });
  const client = createClient(store, { retries: 0 });
  const plant = { id: 1n, name: "fern" };
  expect(await client.create(plant)).toMatchObject({ ok: true, plant: { name: "fern" } });
  await store.close();
  await expect(client.create(plant)).rejects.toThrow(UnavailableError);
});
`;

it("the library works in Jest", async () => {
  const jest = join(modules, "jest");
  const directory = await createProject({ "plants.test.js": jestTest }, { jest });
  const { stderr } = await runNode(directory, [...jestArguments, "--transform={}"]);
  expect(stderr).toMatch(/Tests: +1 passed/);
});
