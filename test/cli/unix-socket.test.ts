/** Commands that talk to a server behind a Unix socket. */
import { createServer } from "node:net";
import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { listSavedOrigins } from "../helpers/credentials.ts";
import { toCommandError, toCommandFailure } from "../../src/cli/command-failure.ts";
import { createProcessIo } from "../../src/cli/io.ts";
import { saveSettings } from "../../src/cli/config/saved-settings.ts";
import { classifyError } from "../../src/client/http-request.ts";
import { createClient } from "../../src/index.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { runCli, startCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

let directory: string;
let socketPath: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  socketPath = join(directory, "plants.sock");
});

const startSocketServer = (basePath = "") => startServer({ socketPath, basePath });

function run(args: readonly string[], url: string, stdin = "") {
  const env = {
    PLANTSTORE_CONFIG_DIR: join(directory, "config"),
    PLANTSTORE_TOKEN: testToken,
    PLANTSTORE_URL: url,
  };
  return runCli(args, { env, stdin });
}

describe.each(["", "/v1"])("a server behind a Unix socket with the base path %j", (basePath) => {
  it("has a URL that commands accept", async () => {
    await using server = await startSocketServer(basePath);
    expect(server.url).toBe(`unix:${socketPath}${basePath === "" ? "" : `:${basePath}`}`);
    expect(await run(["ping"], server.url)).toExit(0, `✓ ${server.url} is ready\n`);
  });

  it("gets a single plant, many plants, large ones included, and no warning", async () => {
    await using server = await startSocketServer(basePath);
    const single = await run(["create", "--id", "1", "--name", "fern"], server.url);
    expect(single).toPrint('{"name":"fern"}\n');
    const lines = Array.from({ length: 200 }, (_, index) => {
      const name = index % 50 === 0 ? "x".repeat(100_000) : "moss";
      return JSON.stringify({ id: index + 10, name });
    });
    const many = await run(["create", "--quiet", "-"], server.url, lines.join("\n"));
    expect(many).toPrint("");
    expect(await server.store.list({ limit: 300 })).toHaveLength(201);
  });

  it("is described by status and openapi", async () => {
    await using server = await startSocketServer(basePath);
    const status = await run(["status", "--json"], server.url);
    expect(JSON.parse(status.stdout)).toMatchObject({ url: server.url, ok: true });
    const openapi = await run(["openapi", "--public-url", server.url], server.url);
    expect(JSON.parse(openapi.stdout)).toMatchObject({
      servers: [{ url: `http://localhost${basePath}` }],
    });
  });
});

it("a token is saved for the socket, and removed by logout", async () => {
  await using server = await startSocketServer("/v1");
  const env = { PLANTSTORE_CONFIG_DIR: directory };
  const login = ["login", "--url", server.url];
  expect(await runCli(login, { env, stdin: testToken })).toMatchObject({ exitCode: 0 });
  expect(await listSavedOrigins(directory)).toEqual([`unix:${socketPath}`]);
  const created = await runCli(["create", "--id", "1", "--name", "fern"], { env });
  expect(created).toMatchObject({ exitCode: 0 });
  expect(await runCli(["logout"], { env })).toMatchObject({ exitCode: 0 });
  expect(await listSavedOrigins(directory)).toEqual([]);
});

it("serve --socket suggests commands with its absolute URL on a terminal", async () => {
  const store = `sqlite:${join(directory, "plants.db")}`;
  const args = ["serve", "--socket", socketPath, "--base-path", "/v1", "--store", store];
  // The first user gets the first token. The second one has to issue another one.
  for (const [user, suggestion] of [
    ["first", `plantstore create --url unix:${socketPath}:/v1 --id 1 --name fern\n`],
    ["second", `plantstore login --url unix:${socketPath}:/v1\n`],
  ] as const) {
    const env = { PLANTSTORE_CONFIG_DIR: join(directory, user) };
    await saveSettings(env.PLANTSTORE_CONFIG_DIR, { login: "https://plants.example.org" });
    const serve = startCli(args, { env, terminals: { stderr: true }, columns: 200 });
    await serve.saw(`unix:${socketPath}:/v1\n`);
    expect(serve.stderr()).toContain(suggestion);
    expect(await serve.stop()).toMatchObject({ exitCode: 0 });
  }
});

it("--verbose prints the request with its path", async () => {
  await using server = await startSocketServer("/v1");
  const { stderr } = await run(["create", "--id", "1", "--name", "fern", "-v"], server.url);
  expect(stderr).toContain("> POST /v1/plants HTTP/1.1\n> Host: localhost\n");
});

it("a client of the library uses the socket", async () => {
  await using server = await startSocketServer();
  const client = createClient({ url: server.url, token: testToken });
  expect(await client.create({ id: 1n, name: "fern" })).toMatchObject({ ok: true });
  const results = [];
  for await (const result of client.createMany([{ id: 2n, name: "moss" }])) results.push(result);
  expect(results).toMatchObject([{ id: 2n, status: "created" }]);
});

describe("an error names the socket and the next step:", () => {
  const advise = (path: string) =>
    `Start a server, or check PLANTSTORE_URL:\n  plantstore serve --socket ${path}`;
  const args = ["create", "--id", "1", "--name", "fern", "--retry", "0"];

  it("a missing socket", async () => {
    const problem = `error: cannot connect to unix:${socketPath}: no such socket\n${advise(socketPath)}\n`;
    expect(await run(args, `unix:${socketPath}`)).toExit(6, problem);
  });

  it("a socket without a server", async () => {
    const server = createServer().listen(socketPath);
    await once(server, "listening");
    // Closing the server would remove the socket.
    await rename(socketPath, `${socketPath}.old`);
    server.close();
    const problem = `error: cannot connect to unix:${socketPath}.old: connection refused\n${advise(`${socketPath}.old`)}\n`;
    expect(await run(args, `unix:${socketPath}.old`)).toExit(6, problem);
  });

  it("another kind of file", async () => {
    await writeFile(socketPath, "");
    const problem = `error: cannot connect to unix:${socketPath}: it is not a socket: check PLANTSTORE_URL\n`;
    expect(await run(args, `unix:${socketPath}`)).toExit(6, problem);
  });

  it("a socket of another user", () => {
    const cause = Object.assign(new Error("connect EACCES"), { code: "EACCES" });
    const error = classifyError(cause, { url: "unix:/run/p.sock:/plants" });
    const source = { flags: {}, io: createProcessIo() };
    expect(toCommandFailure(toCommandError(error, source))).toMatchObject({
      exitCode: 6,
      message:
        "cannot connect to unix:/run/p.sock: permission denied: use it as a user who may write to it, or check --url",
    });
  });
});
