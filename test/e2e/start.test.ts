/** The start of the built command. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { json, openScriptedServer } from "../client/scripted-server.ts";
import { serveBinary } from "../helpers/binary-server.ts";
import { testToken } from "../helpers/plant-server.ts";
import { findFreePort } from "../helpers/postgres-server.ts";
import { startSession } from "../helpers/pseudo-terminal.ts";
import { toRawRequest } from "../helpers/raw-request.ts";
import { runBinary, startBinary } from "../helpers/run-binary.ts";
import { allTerminals, runCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

it("output that the build prepares fits a narrow terminal", async () => {
  const home = await createTemporaryDirectory();
  const screen = await startSession("stty columns 50; $PLANTSTORE --help", home).finished;
  const { stdout } = await runCli(["--help"], { terminals: allTerminals, columns: 50 });
  expect(stdout).not.toBe((await runCli(["--help"])).stdout);
  expect(screen).toContain(stdout.replaceAll("\n", "\r\n"));
});

it("a command whose event loop ends before its work exits with 1", async () => {
  const home = await createTemporaryDirectory();
  const script = join(home, "stuck.cjs");
  // This read never ends, and keeps no handle open.
  await writeFile(script, 'require("node:fs").promises.stat = () => new Promise(() => {});');
  const env = { NODE_OPTIONS: `--require ${script}` };
  const args = ["create", "--token-file", script, "--id", "1", "--name", "a"];
  expect(await runBinary(args, { home, env })).toEqual({ code: 1, stdout: "", stderr: "" });
});

it("logs a SIGHUP once, although the server has just saved its first token", async () => {
  const { child, url, stop } = await serveBinary();
  let log = "";
  child.stderr.on("data", (text: string) => (log += text));
  child.kill("SIGHUP");
  await expect.poll(() => log).toContain("SIGHUP");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const { code, stderr } = await stop();
  expect({ code, messages: stderr.match(/"SIGHUP[^"]*"/g) }).toEqual({
    code: 0,
    messages: ['"SIGHUP ignored: the server has no certificate"'],
  });
});

describe("when its terminal closes, a server", () => {
  it.each([
    ["nohup started it", "nohup $PLANTSTORE"],
    ["its log is elsewhere", "$PLANTSTORE"],
  ])("survives if %s", async (_what, plantstore) => {
    const home = await createTemporaryDirectory();
    const port = await findFreePort();
    const command = `${plantstore} serve --port ${port} > out 2> log`;
    const session = startSession(`${command} & echo $! > pid; sleep 60`, home);
    await expect.poll(() => isServing(port)).toBe(true);
    const processId = Number(await readFile(join(home, "pid"), "utf8"));
    onTestFinished(() => void process.kill(processId, "SIGKILL"));
    session.close();
    const message = '"SIGHUP ignored: the server has no certificate"';
    await expect.poll(() => readFile(join(home, "log"), "utf8")).toContain(message);
    expect(await isServing(port)).toBe(true);
  });

  async function isServing(port: number): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    return response?.status === 200;
  }
});

it("Node 22 and later cache compiled code", async () => {
  const home = await createTemporaryDirectory();
  const { code } = await runBinary(["explain"], { home, env: { TMPDIR: home } });
  const kept = (await readdir(home)).filter((name) => name === "node-compile-cache");
  const isNode20 = process.versions.node.startsWith("20.");
  expect({ code, kept }).toEqual({ code: 0, kept: isNode20 ? [] : ["node-compile-cache"] });
});

it("a response may have as many bytes of headers as --max-http-header-size allows", async () => {
  const long = json(200, '{"name":"fern"}', { "x-long": "a".repeat(20_000) });
  const { url } = await openScriptedServer(long);
  const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: testToken };
  const home = await createTemporaryDirectory();
  const args = ["create", "--id", "1", "--name", "fern"];
  expect(await runBinary(args, { home, env })).toMatchObject({ code: 7 });
  const options = { home, env: { ...env, NODE_OPTIONS: "--max-http-header-size=65536" } };
  expect(await runBinary(args, options)).toMatchObject({ code: 0, stdout: '{"name":"fern"}\n' });
});

it("a server starts although its clients would use up its descriptors, and sends them 200", async () => {
  const home = await createTemporaryDirectory();
  // Its check keeps the store closed while clients connect.
  const seed = join(home, "seed.ndjson");
  const ids = Array.from({ length: 100_000 }, (_, index) => index);
  await writeFile(seed, ids.map((id) => `{"id":${id},"name":"fern"}\n`).join(""));
  // Clients connect before the server listens: at this address, no server of another test has the port.
  const host = "127.0.0.7";
  const port = await findFreePort();
  const body = '{"id":1,"name":"fern"}';
  const sockets = new Set<Socket>();
  let isStarted = false;
  let responses = "";
  const open = (): void => {
    if (isStarted) return;
    const socket = connect(port, host);
    sockets.add(socket);
    socket.on("connect", () => socket.write(toRawRequest(body)));
    socket.on("data", (bytes) => (responses += String(bytes)));
    socket.on("error", () => undefined);
    socket.on("close", () => void (sockets.delete(socket) && setTimeout(open, 10)));
  };
  for (let count = 0; count < 700; count++) open();
  const args = ["serve", "--host", host, "--port", String(port), "--seed", seed];
  const { child, firstLine, finished } = startBinary(args, {
    home,
    env: { PLANTSTORE_TOKEN: testToken },
    shell: "ulimit -n 600",
  });
  await firstLine;
  isStarted = true;
  await expect.poll(() => responses).toContain("HTTP/1.1 200");
  expect(responses).not.toMatch(/"error":(?!50301)/);
  for (const socket of sockets) socket.destroy();
  child.kill("SIGTERM");
  expect((await finished).code).toBe(0);
});
