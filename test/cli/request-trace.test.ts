/** `--verbose` shows requests and responses without the token. */
import { describe, expect, it } from "vitest";
import type { RequestRecord } from "../../src/server/request.ts";
import { json, openScriptedServer } from "../client/scripted-server.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { postPlant } from "../helpers/post-plant.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const fern = ["--id", "1", "--name", "fern"];
const env = { PLANTSTORE_TOKEN: "secret-of-mine" };

describe("--verbose", () => {
  it("prints the request and the response, head and body, on stderr", async () => {
    const { url } = await openScriptedServer(json(200, '{"name":"fern"}'));
    const args = ["create", ...fern, "--url", `${url}/v1`, "-v"];
    const { exitCode, stdout, stderr } = await runCli(args, { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '{"name":"fern"}\n' });
    const lines = stderr.split("\n");
    expect(lines[0]).toBe("> POST /v1/plants HTTP/1.1");
    expect(lines).toEqual(
      expect.arrayContaining([
        `> Host: ${new URL(url).host}`,
        "> Authorization: Bearer ***",
        "> Content-Type: application/json",
        "> Content-Length: 22",
        ">",
        '> {"id":1,"name":"fern"}',
        "< HTTP/1.1 200 OK",
        "< Content-Type: application/json",
        '< {"name":"fern"}',
      ]),
    );
  });

  it.each([
    ["create", ["create", ...fern, "--retry", "0"], {}],
    ["create with many plants", ["create", "--json"], { stdin: '{"id":1,"name":"fern"}' }],
  ])("of %s never shows the token, even if the server repeats it", async (_what, argv, options) => {
    const message = `no such token: ${env.PLANTSTORE_TOKEN}`;
    const respond = json(400, JSON.stringify({ error: 40102, message: "unknown" }), {
      echo: message,
    });
    const { url } = await openScriptedServer(respond);
    const args = [...argv, "--verbose", "--url", url];
    const { exitCode, stderr } = await runCli(args, { ...options, env });
    expect(exitCode).toBe(4);
    expect(stderr).toContain("> Authorization: Bearer ***\n");
    expect(stderr).toContain("< Echo: no such token: ***\n");
  });

  it("of many plants prints each request with its response", async () => {
    const { url } = await openScriptedServer(json(200, '{"name":"fern"}'));
    const stdin = [1, 2, 3].map((id) => `{"id":${id},"name":"fern"}\n`).join("");
    const { stderr } = await runCli(["create", "-v", "--url", url], { stdin, env });
    const lines = stderr.split("\n").filter((line) => /^[<>] (?:POST|HTTP|\{)/.test(line));
    const requests = [1, 2, 3].flatMap((id) => [
      "> POST /plants HTTP/1.1",
      `> {"id":${id},"name":"fern"}`,
      "< HTTP/1.1 200 OK",
      '< {"name":"fern"}',
    ]);
    expect(lines).toEqual(requests);
  });

  it.each([
    ["ping", {}, ["GET /readyz", "POST /plants"]],
    ["login", { stdin: testToken }, ["POST /plants", "POST /plants"]],
    ["status", {}, ["POST /plants", "GET /readyz", "POST /plants"]],
  ])("of %s prints the requests of its check", async (command, input, lines) => {
    await using server = await startServer();
    const home = await createTemporaryDirectory();
    const options = {
      ...input,
      home,
      env: { PLANTSTORE_TOKEN: command === "status" ? testToken : "" },
    };
    const result = await runCli([command, "-v", "--url", server.url], options);
    const requests = [...result.stderr.matchAll(/^> (\w+ \S+) HTTP/gm)].map(([, line]) => line);
    expect(requests).toEqual(lines);
    expect(result.stderr.match(/^< HTTP\/1\.1 /gm)).toHaveLength(lines.length);
    expect(result.stdout + result.stderr).not.toContain(testToken);
  });

  it.each([
    ["list", ["list"], ["GET /plants?limit=1000", "GET /plants?limit=1000&after=2"]],
    ["get", ["get", "1", "2"], ["GET /plants?limit=1&after=0", "GET /plants?limit=1&after=1"]],
    ["export", ["export"], ["GET /plants?limit=1000", "GET /plants?limit=1000&after=2"]],
    ["delete", ["delete", "1", "2", "--yes"], ["DELETE /plants/1", "DELETE /plants/2"]],
  ])("of %s prints each request with its response", async (_what, argv, requests) => {
    await using server = await startServer({ operations: "all" });
    for (const id of [1n, 2n]) await server.store.create({ id, name: "fern" }, "reject");
    const { exitCode, stderr } = await runCli([...argv, "-v"], { server });
    expect(exitCode).toBe(0);
    const lines = stderr.split("\n").filter((line) => /^(?:> [A-Z]+ |< HTTP)/.test(line));
    const status = argv[0] === "delete" ? "204 No Content" : "200 OK";
    expect(lines).toEqual(
      requests.flatMap((request) => [`> ${request} HTTP/1.1`, `< HTTP/1.1 ${status}`]),
    );
    expect(stderr).not.toContain(testToken);
  });

  it("is -v, and the version is -V", async () => {
    expect((await runCli(["-V"])).stdout).toMatch(/^plantstore \d/);
    expect(await runCli(["-v"])).toExit(2, /^error: unknown option '-v'/);
  });
});

describe("the check of a token", () => {
  it.each([
    ["status", "wrong-token", 4],
    ["status", testToken, 0],
  ])("by %s with %s is a check of a token for the server's log", async (command, token, code) => {
    const records: RequestRecord[] = [];
    await using server = await startServer({ onResponse: (record) => void records.push(record) });
    const options = { server, env: { PLANTSTORE_TOKEN: token } };
    expect(await runCli([command], options)).toMatchObject({ exitCode: code });
    // First without the token.
    await expect
      .poll(() => records.map(({ operation }) => operation))
      .toEqual(["probe", "readiness", "probe"]);
  });

  it.each([
    ["that succeeds", 2n, { operation: "create", status: 200 }],
    ["of an id that belongs to a different plant", 1n, { operation: "create", error: 40900 }],
  ])("by a create %s is not a check of a token", async (_what, storedId, expected) => {
    const records: RequestRecord[] = [];
    await using server = await startServer({ onResponse: (record) => void records.push(record) });
    await server.store.create({ id: storedId, name: "another" }, "reject");
    const headers = { "x-plantstore-probe": "token" };
    await postPlant(server.url, testToken, { id: 1, name: "fern" }, { headers });
    await expect.poll(() => records).toMatchObject([expected]);
  });
});
