/** How the built command starts: what it tells without loading the rest, and what it loads for the rest. */
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { runBinary, startBinary } from "../helpers/run-binary.ts";
import { allTerminals, runCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

describe("what is known since the build", () => {
  it.each([
    [[], ["--help"]],
    [["--help"], ["--help"]],
    [["-h"], ["--help"]],
    [["help"], ["--help"]],
    [["--version"], ["--version"]],
    [["-V"], ["--version"]],
  ])("%j: the same as the command tree says", async (args, asked) => {
    const home = await createTemporaryDirectory();
    const { stdout: said } = await runCli(asked);
    // There the command tree has a world of its own.
    const stdout = said
      .replace("20.20.2", process.versions.node)
      .replace("linux x64", `${process.platform} ${process.arch}`);
    expect(await runBinary(args, { home })).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("the overview fits into a narrow terminal", async () => {
    const home = await createTemporaryDirectory();
    const screen = await startSession("stty columns 50; $PLANTSTORE --help", home).finished;
    const { stdout } = await runCli(["--help"], { terminals: allTerminals, columns: 50 });
    expect(stdout).not.toBe((await runCli(["--help"])).stdout);
    expect(screen).toContain(stdout.replaceAll("\n", "\r\n"));
  });
});

/** Tells at the end of a process which modules of Node and which files it has loaded, in this order. */
const teller = `
  process.on("exit", () => {
    const files = Object.keys(require.cache).map((path) => require("node:path").basename(path));
    process._rawDebug("loaded " + [...process.moduleLoadList, ...files].join());
  });`;

/** What a run of the command has loaded. */
async function listLoaded(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const home = await createTemporaryDirectory();
  const script = join(home, "teller.cjs");
  await writeFile(script, teller);
  const run = startBinary(args, { home, env: { NODE_OPTIONS: `--require ${script}`, ...env } });
  await run.firstLine;
  if (args[0] === "serve") run.child.kill("SIGTERM");
  const { stderr } = await run.finished;
  // A thread tells, too.
  const [, list = ""] = /^loaded (.*,start\.js.*)$/m.exec(stderr) ?? [];
  return list.split(",").map((name) => name.replace("NativeModule ", ""));
}

function find(loaded: readonly string[], file: RegExp): number {
  return loaded.findIndex((name) => file.test(name));
}

describe("only what is needed is loaded for", () => {
  const ofNode = [
    "assert",
    "crypto",
    "fs/promises",
    "http2",
    "perf_hooks",
    "tls",
    "v8",
    "worker_threads",
  ];

  it.each([
    ["--version", ["--version"]],
    ["the overview", []],
  ])("%s: nothing of the commands", async (_what, args) => {
    const loaded = await listLoaded(args);
    expect(loaded).toContain("start.js");
    expect(find(loaded, /^main-/)).toBe(-1);
    expect(loaded.filter((name) => ofNode.includes(name))).toEqual([]);
  });

  it("a create: little of Node", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
    const loaded = await listLoaded(["create", "--id", "1", "--name", "fern"], env);
    expect(find(loaded, /^create-/)).toBeGreaterThan(0);
    expect(find(loaded, /^pool-/)).toBe(-1);
    expect(loaded.filter((name) => ofNode.includes(name))).toEqual([]);
  });

  it("a create of many: the pool of connections, and what V8 is told for them", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
    const file = join(await createTemporaryDirectory(), "plants.ndjson");
    await writeFile(file, '{"id":1,"name":"fern"}\n{"id":2,"name":"moss"}\n');
    const loaded = await listLoaded(["create", file], env);
    expect(loaded).toContain("v8");
    expect(find(loaded, /^pool-/)).toBeGreaterThan(0);
  });

  it("serve: the engine of its store before its server, so that one opens while the other is loaded", async () => {
    const loaded = await listLoaded(["serve", "--port", "0"]);
    expect(find(loaded, /^engine-/)).toBeGreaterThan(0);
    expect(find(loaded, /^running-server-/)).toBeGreaterThan(find(loaded, /^engine-/));
    // What saves the first token has come before the connection to the file.
    expect(find(loaded, /^source-/)).toBeGreaterThan(find(loaded, /^running-server-/));
  });
});

it("a command that ends with nothing left to wait for has not done what was asked: exit 1", async () => {
  const home = await createTemporaryDirectory();
  const script = join(home, "stuck.cjs");
  // What it reads never comes, and nothing is left open for it.
  await writeFile(script, 'require("node:fs").promises.stat = () => new Promise(() => {});');
  const env = { NODE_OPTIONS: `--require ${script}` };
  expect(
    await runBinary(["create", "--token-file", script, "--id", "1", "--name", "a"], { home, env }),
  ).toEqual({
    code: 1,
    stdout: "",
    stderr: "",
  });
});

it("Node keeps what it compiled, where it can: from 22 on", async () => {
  const home = await createTemporaryDirectory();
  const { code } = await runBinary(["explain"], { home, env: { TMPDIR: home } });
  const kept = (await readdir(home)).filter((name) => name === "node-compile-cache");
  const isNode20 = process.versions.node.startsWith("20.");
  expect({ code, kept }).toEqual({ code: 0, kept: isNode20 ? [] : ["node-compile-cache"] });
});

it("the head of an answer may be as long as Node was told", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "X-Long": "a".repeat(20_000) });
    response.end('{"name":"fern"}');
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const env = { PLANTSTORE_URL: `http://127.0.0.1:${port}`, PLANTSTORE_TOKEN: testToken };
  const home = await createTemporaryDirectory();
  const args = ["create", "--id", "1", "--name", "fern"];
  expect(await runBinary(args, { home, env })).toMatchObject({ code: 7 });
  const options = { home, env: { ...env, NODE_OPTIONS: "--max-http-header-size=65536" } };
  expect(await runBinary(args, options)).toMatchObject({ code: 0, stdout: '{"name":"fern"}\n' });
});
