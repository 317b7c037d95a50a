/** The output, the questions and the exit codes of `plantstore conform`. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rules } from "../../../src/conformance/rules.ts";
import { openRawServer } from "../../client/scripted-server.ts";
import { parseConformLines } from "../../helpers/conform-lines.ts";
import { startServer, type TestServer, testToken } from "../../helpers/plant-server.ts";
import { allTerminals, runCli, startCli } from "../../helpers/run-cli.ts";

const env = { PLANTSTORE_TOKEN: testToken };
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ basePath: "/v1" });
});
afterAll(() => server.close());

describe("plantstore conform with a plant store", () => {
  it("names the plants before it writes them, prints a table of passed rules, and exits with 0", async () => {
    const { exitCode, stdout, stderr } = await runCli(["conform", "--url", server.url, "--yes"], {
      env,
    });
    expect(stdout).not.toContain("  fail  ");
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^plantstore conform writes plants to http.*\/v1, and the service cannot delete them:\n {2}ids \d{15} to \d{15}, and 9000/,
    );
    expect(stdout).toContain("\nThe given contract\n  pass  A plant with a name");
    expect(stdout).toContain("\nDecisions of plantstore: Body\n  pass  ");
    expect(stdout).toMatch(/\n {2}- {5}An expired token gets error 40103: only the owner /);
    expect(stdout).toMatch(/\nThe given contract: (\d+) of \1 rules pass\n/);
  });

  it("prints a line of JSON for each rule with --json, and bytes without the token with --verbose", async () => {
    const args = ["conform", "--url", server.url, "--yes", "--json", "--verbose"];
    const { stdout } = await runCli(args, { env });
    const lines = parseConformLines(stdout);
    expect(lines.filter(({ result }) => result === "pass")).toHaveLength(rules.length);
    const [first] = lines;
    expect(first?.connections?.[0]?.sent).toMatch(
      /^POST \/v1\/plants HTTP\/1\.1\r\nHost: [^]*Authorization: Bearer <ACCESS_TOKEN>\r\n[^]*"name":"fern"\}$/,
    );
    expect(first?.connections?.[0]?.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(stdout).not.toContain(testToken);
  });

  it("writes only the plants that it names", async () => {
    const firstId = 777_000_000_000_000n;
    const args = ["conform", "--url", server.url, "--yes", "--first-id", String(firstId)];
    const { exitCode, stderr } = await runCli(args, { env });
    expect(exitCode).toBe(0);
    const [, last = ""] = /ids 777000000000000 to (\d+), /.exec(stderr) ?? [];
    expect(BigInt(last)).toBeGreaterThan(firstId);
    expect(await server.store.get(firstId)).toMatchObject({ name: "fern" });
  });

  it("detects a server with the status mode http", async () => {
    await using other = await startServer({ statusMode: "http" });
    const { exitCode, stdout } = await runCli(["conform", "--url", other.url, "--yes"], { env });
    expect(stdout).toMatch(/^http.*, status mode http\n/);
    expect(exitCode).toBe(0);
  });

  it("requires the status mode of the flag", async () => {
    const args = ["conform", "--url", server.url, "--yes", "--status-mode", "http"];
    const { exitCode, stdout } = await runCli(args, { env });
    expect(stdout).toMatch(/^http.*, status mode http\n/);
    expect(stdout).toMatch(/fail {2}Error 42201: /);
    expect(exitCode).toBe(8);
  });

  it("asks for confirmation on a terminal, and writes nothing without a yes", async () => {
    const args = ["conform", "--url", server.url, "--first-id", "555000000000000"];
    const { exitCode, stderr, stdout } = await runCli(args, {
      env,
      terminals: allTerminals,
      stdin: "no\n",
    });
    expect(stderr).toMatch(/Continue\? \[y\/N\] [^]*not confirmed: no plant was sent\n$/);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(await server.store.get(555_000_000_000_000n)).toBeUndefined();
  });

  it("runs after a yes on a terminal", async () => {
    const run = { env, terminals: allTerminals, stdin: "y\n" };
    const { exitCode, stdout } = await runCli(["conform", "--url", server.url], run);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("pass");
  });

  it("needs --yes without a terminal", async () => {
    const { exitCode, stderr } = await runCli(["conform", "--url", server.url], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: conform writes plants to .*: pass --yes to agree\n/);
  });

  it("rejects a first id without 15 digits", async () => {
    const { exitCode, stderr } = await runCli(["conform", "--yes", "--first-id", "7"], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: --first-id must be an integer from 100000000000000 to /);
  });

  it("exits with 4 without a token, and for a rejected token", async () => {
    const args = ["conform", "--url", server.url, "--yes"];
    expect(await runCli(args)).toMatchObject({ exitCode: 4, stdout: "" });
    const rejected = await runCli(args, { env: { PLANTSTORE_TOKEN: "wrong" } });
    expect(rejected).toMatchObject({ exitCode: 4, stdout: "" });
    expect(rejected.stderr).toMatch(
      /rejected the token: .* \(the token came from PLANTSTORE_TOKEN\)/,
    );
  });

  it("does not print a token that the server repeats in its rejection", async () => {
    const PLANTSTORE_TOKEN = "a-token-of-another-service";
    const body = JSON.stringify({ error: 40102, message: `unknown: ${PLANTSTORE_TOKEN}` });
    const url = await openRawServer((socket) => {
      const head = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
      socket.end(`HTTP/1.1 400 Bad Request\r\n${head}\r\n\r\n${body}`);
    });
    const args = ["conform", "--url", url, "--yes", "--status-mode", "contract"];
    const { exitCode, stderr } = await runCli(args, { env: { PLANTSTORE_TOKEN } });
    expect(exitCode).toBe(4);
    expect(stderr).toContain("unknown: <ACCESS_TOKEN>");
    expect(stderr).not.toContain(PLANTSTORE_TOKEN);
  });

  it("stops with 130 on Ctrl-C", async () => {
    const url = await openRawServer(() => run.signal("SIGINT"));
    const run = startCli(["conform", "--url", url, "--yes", "--status-mode", "contract"], { env });
    expect(await run.finished).toMatchObject({ exitCode: 130, stdout: "" });
  });
});
