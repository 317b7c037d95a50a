/** `plantstore ping`: checks whether a plant store is ready, now or within a time. */
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
  type Responder,
} from "../../client/scripted-server.ts";
import { saveSettings } from "../../../src/cli/config/saved-settings.ts";
import type { RequestRecord } from "../../../src/server/request.ts";
import { openServer, startServer } from "../../helpers/plant-server.ts";
import { containing, runCli, startCli } from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

const ready = json(200, '{"status":"ready"}');
const noToken = errorResponse(40100);
const starting = json(503, '{"error":50301,"message":"the server is starting: try again"}');

describe("a single attempt", () => {
  it("exits with 0 if the server is ready, and needs no token", async () => {
    await using server = await startServer();
    expect(await runCli(["ping", "--url", server.url])).toExit(0, `✓ ${server.url} is ready\n`);
  });

  it("requests /readyz at the root, and creates at the base path, without a token", async () => {
    const server = await openScriptedServer(ready, noToken);
    expect(await runCli(["ping", "--url", `${server.url}/v1`])).toMatchObject({ exitCode: 0 });
    expect(server.requests).toMatchObject([
      { method: "GET", path: "/readyz" },
      { method: "POST", path: "/v1/plants" },
    ]);
    for (const { headers } of server.requests) expect(headers).not.toHaveProperty("authorization");
  });

  it.each([
    ["", "/wrong", "http"],
    ["/v1", "", "http"],
    ["/v1", "/v1/plants", "contract"],
  ] as const)("names the path at %j to a user of %j", async (basePath, path, statusMode) => {
    await using server = await startServer({ basePath, statusMode });
    const { origin } = new URL(server.url);
    const problem = `error 40400: unknown path "${path}/plants": create plants with POST ${basePath}/plants (`;
    const result = await runCli(["ping", "--wait", "1m", "--url", origin + path]);
    expect(result).toExit(7, containing(problem));
  });

  it.each<[what: string, exit: number, responses: readonly Responder[], message: string]>([
    ["rejects creates for now", 6, [ready, errorResponse(50301)], "error 50301: message of 50301"],
    [
      "is a proxy in trouble",
      6,
      [json(502, "{}")],
      "error: a proxy at URL responded instead of the plant store (status 502): try again",
    ],
    [
      "expects TLS at this port",
      7,
      [errorResponse(40000)],
      "error 40000: message of 40000 (check --url, which is URL)",
    ],
  ])("reports that a server %s, and exits with %i", async (_what, exit, responses, message) => {
    const { url } = await openScriptedServer(...responses);
    const problem = `${message.replace("URL", url)}\n`;
    expect(await runCli(["ping", "--url", url])).toExit(exit, problem);
  });

  it("is logged and counted as a check of a token", async () => {
    const records: RequestRecord[] = [];
    await using server = await startServer({ onResponse: (record) => void records.push(record) });
    await runCli(["ping", "--url", server.url]);
    expect(records.map(({ operation }) => operation)).toEqual(["readiness", "probe"]);
  });

  it("exits with 6 and the error if the server is starting", async () => {
    await using server = await openServer();
    const message = "error 50301: the server is starting: try again\n";
    expect(await runCli(["ping", "--url", server.url])).toExit(6, message);
  });

  it("prints the result as JSON with --json, with the same exit codes", async () => {
    await using server = await startServer();
    const ok = await runCli(["ping", "--json", "--url", server.url]);
    expect(ok).toExit(0, containing("is ready"), `{"url":"${server.url}","ready":true}\n`);
    const { url } = await openScriptedServer(starting);
    const problem = "error 50301: the server is starting: try again";
    const report = `${JSON.stringify({ url, ready: false, error: 50301, problem })}\n`;
    const early = await runCli(["ping", "--json", "--url", url]);
    expect(early).toExit(6, `${problem}\n`, report);
    const closed = await findClosedUrl();
    const missing = await runCli(["ping", "--json", "--url", closed]);
    expect(missing).toExit(6, containing("cannot connect"), [{ url: closed, ready: false }]);
  });

  it.each([
    ["with 404", json(404, "{}"), "HTTP 404, application/json"],
    ["with 200 for every path", json(200, "<html>"), "HTTP 200, JSON without a Plant"],
  ])(
    "exits with 7 if another server responds %s, and does not wait",
    async (_, respond, reason) => {
      const { url, requests } = await openScriptedServer(respond);
      const result = await runCli(["ping", "--wait", "1h", "--url", url]);
      const problem = `error: ${url}/plants is not a plant store (${reason}): check --url\n`;
      expect(result).toExit(7, problem);
      expect(requests).toHaveLength(2);
    },
  );

  it.each<[what: string, respond: Responder]>([
    ["a missing page", json(404, "<h1>")],
    ["a page of a proxy", json(503, "<h1>")],
    ["a lost connection", (response) => void response.destroy()],
  ])("exits with 0 behind a proxy whose /readyz is %s", async (_what, respond) => {
    const { url } = await openScriptedServer(respond, noToken);
    expect(await runCli(["ping", "--url", url])).toExit(0, `✓ ${url} is ready\n`);
  });

  it.each([["--timeout"], ["--wait"]])(
    "ends after %s if the server does not respond",
    async (flag) => {
      const url = await openRawServer(() => undefined);
      const result = await runCli(["ping", "--url", url, flag, "50ms"]);
      expect(result).toExit(6, containing("waited 0.05 s"));
    },
  );
});

describe("--wait", () => {
  it("retries until the server is ready", async () => {
    const { url, requests } = await openScriptedServer(
      starting,
      json(502, "{}"),
      json(502, "{}"),
      ready,
      noToken,
    );
    const run = await runCli(["ping", "--wait", "30s", "--url", url]);
    expect(run).toExit(0, `waiting for ${url}\n✓ ${url} is ready\n`);
    expect(requests).toHaveLength(5);
  });

  it("follows the URL that the first server saves meanwhile", async () => {
    await using server = await startServer();
    const directory = await createTemporaryDirectory();
    await saveSettings(directory, { serve: await findClosedUrl() });
    const env = { PLANTSTORE_CONFIG_DIR: directory };
    const run = startCli(["ping", "--wait", "30s"], { env });
    await run.saw("waiting for");
    await saveSettings(directory, { serve: server.url });
    expect((await run.finished).stderr).toContain(`${server.url} is ready\n`);
  });

  it("retries until a server listens", async () => {
    // Another process could take the port of an address.
    const path = join(await createTemporaryDirectory(), "s");
    const argv = ["ping", "--wait", "30s", "--url", `unix:${path}`];
    const run = startCli(argv, { terminals: { stderr: true } });
    await run.saw("waiting for");
    const server = createServer((request, response) =>
      request.method === "GET" ? ready(response) : noToken(response),
    );
    server.listen(path);
    onTestFinished(() => void server.close());
    await once(server, "listening");
    expect(await run.finished).toMatchObject({ exitCode: 0 });
  });

  it("exits with 6 and the last reason when the time is over", async () => {
    const { url } = await openScriptedServer(starting);
    const problem = "error 50301: the server is starting: try again; waited 0.3 s\n";
    const output = `waiting for ${url}\n${problem}`;
    expect(await runCli(["ping", "--wait", "300ms", "--url", url])).toExit(6, output);
  });

  it("ends on a signal, with its exit code", async () => {
    const run = startCli(["ping", "--wait", "1m", "--url", await findClosedUrl()]);
    await expect.poll(() => run.signal("SIGTERM")).toBe(true);
    expect(await run.finished).toMatchObject({ exitCode: 143 });
  });

  it.each(["soon", "25h", "-1s", "1441m", ""])("rejects %j", async (text) => {
    const problem = "--wait must be a time such as 500ms, 10s or 2m, from 0 to 1d";
    expect(await runCli(["ping", "--wait", text])).toExit(2, containing(problem));
  });
});
