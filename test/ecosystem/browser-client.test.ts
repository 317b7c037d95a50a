/** `plantstore/client` where its condition `browser` applies: in a browser, and in Jest with jsdom. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openScriptedServer } from "../client/scripted-server.ts";
import { Faults } from "../../src/server/faults.ts";
import { noFaults } from "../helpers/no-faults.ts";
import { findBrowser } from "../helpers/installed-programs.ts";
import { createProject } from "../helpers/node-project.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { root, run } from "../helpers/run.ts";
import { openBrowser } from "./open-browser.ts";

const modules = fileURLToPath(new URL("node_modules", import.meta.url));
const client = await readFile(join(root, "dist/browser/client.js"), "utf8");

/** A program of a page. Its value is JSON. */
const program = (url: string): string => `(async () => {
  const { createClient, UnavailableError } = await import("/client.js");
  const options = { url: ${JSON.stringify(url)}, token: ${JSON.stringify(testToken)} };
  const plants = createClient({ ...options, retries: 100 });
  const seen = {};

  const fern = { id: 9007199254740993n, name: "fern" };
  seen.created = await plants.create(fern);
  seen.conflict = await plants.create({ ...fern, name: "moss" });

  const many = Array.from({ length: 200 }, (_, id) => ({ id: BigInt(id), name: "fern" }));
  seen.statuses = {};
  for await (const { ok, status } of plants.createMany(many)) {
    const key = ok + " " + status;
    seen.statuses[key] = (seen.statuses[key] ?? 0) + 1;
  }

  const controller = new AbortController();
  const aborted = plants.create({ id: 300n, name: "fern" }, { signal: controller.signal });
  controller.abort("enough");
  seen.aborted = await aborted.catch((reason) => reason);

  const nowhere = createClient({ ...options, url: "http://127.0.0.1:1", retries: 1 });
  const error = await nowhere.create(fern).catch((thrown) => thrown);
  seen.unavailable = [error instanceof UnavailableError, error.reason, error.attempts];

  const moved = createClient({ ...options, url: location.origin + "/moved" });
  seen.moved = await moved.create(fern).catch(String);

  seen.invalid = [{ ca: "x" }, { url: "unix:/run/plants.sock" }].map((each) => {
    try {
      createClient({ ...options, ...each });
    } catch (error) {
      return error.name + ": " + error.message;
    }
  });
  return JSON.stringify(seen);
})()`;

// test/helpers/untested.ts reports when this test does not run.
it.skipIf(findBrowser() === undefined)("creates plants from a page of another origin", async () => {
  const { url: origin } = await openScriptedServer((response, { path }) => {
    const isClient = path === "/client.js";
    if (path === "/moved/plants") response.writeHead(307, { location: "/" });
    else response.setHeader("content-type", isClient ? "text/javascript" : "text/html");
    response.end(isClient ? client : "<!doctype html>");
  });
  const faults = new Faults({ ...noFaults, dropRate: 0.2, seed: 1 });
  await using server = await startServer({ corsOrigins: [origin], faults });
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    const seen = JSON.parse(await page.evaluate<string>(program(server.url))) as {
      readonly statuses: Readonly<Record<string, number>>;
    };
    expect(seen).toMatchObject({
      created: { ok: true, plant: { name: "fern" } },
      conflict: { ok: false, error: { error: 40900 } },
      aborted: "enough",
      unavailable: [true, "lost", 2],
      moved: expect.stringContaining("it redirects, and redirects are not followed") as string,
      invalid: [
        "TypeError: ca does not concern fetch: leave it out, and let fetch trust the authority",
        "TypeError: url must begin with http: or https:, because fetch cannot use unix:",
      ],
    });
    // A dropped response makes a plant unchanged.
    expect(Object.keys(seen.statuses).toSorted()).toEqual(["true created", "true unchanged"]);
    expect(Object.values(seen.statuses).reduce((sum, count) => sum + count)).toBe(200);
    expect(await server.store.get(9007199254740993n)).toBeDefined();
    expect(await server.store.count({ after: -1n })).toBeGreaterThanOrEqual(201);
  } finally {
    await browser.close();
  }
});

const jestTest = `
import { createClient } from "plantstore/client";

const { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: token } = process.env;

test("creates plants", async () => {
  expect(import.meta.resolve("plantstore/client")).toMatch(/browser[/]client.js$/);

  const client = createClient({ url, token });
  expect(await client.create({ id: 1n, name: "fern" })).toMatchObject({ ok: true });

  const plants = Array.from({ length: 20 }, (_, index) => ({ id: BigInt(index + 1), name: "moss" }));
  const statuses = [];
  for await (const { status } of client.createMany(plants)) statuses.push(status);
  expect(statuses).toEqual(["rejected", ...Array(19).fill("created")]);
});
`;

/** jsdom, which selects the condition `browser`, with the globals of Node that it lacks. */
const environment = `
import { TestEnvironment } from "jest-environment-jsdom";

export default class extends TestEnvironment {
  async setup() {
    await super.setup();
    const missing = { AbortController, AbortSignal, fetch, Response, TextDecoder, TextEncoder };
    Object.assign(this.global, missing);
  }
}
`;

it("works in Jest with jsdom", async () => {
  const names = ["jest", "jest-environment-jsdom"];
  const packages = Object.fromEntries(names.map((each) => [each, join(modules, each)]));
  const files = { "environment.js": environment, "plants.test.js": jestTest };
  const directory = await createProject(files, packages);
  await using server = await startServer();
  const jest = join(modules, "jest/bin/jest.js");
  const args = ["--experimental-vm-modules", jest, "--env=./environment.js", "--transform={}"];
  const env = {
    PATH: process.env["PATH"],
    HOME: directory,
    NO_COLOR: "1",
    PLANTSTORE_URL: server.url,
    PLANTSTORE_TOKEN: testToken,
  };
  const { stderr } = await run(process.execPath, args, { cwd: directory, env });
  expect(stderr).toMatch(/Tests: +1 passed/);
  expect(stderr).not.toContain("MaxListenersExceededWarning");
});
