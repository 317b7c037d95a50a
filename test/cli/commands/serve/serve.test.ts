/** `plantstore serve` as a function: how it starts, what it warns about, its log, and its end. */
import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mintToken } from "../../../../src/auth/authenticator.ts";
import { findClosedUrl, openRawServer } from "../../../client/scripted-server.ts";
import { readSavedToken, toTokenFile } from "../../../helpers/credentials.ts";
import { allTerminals, containing, runCli, startCli } from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";
import {
  configPath,
  createFern,
  failToServe,
  inHome,
  serve,
  serveOnce,
  useHome,
} from "./serve-home.ts";

useHome();

it("--cors-origin can be repeated, and allows the pages of each origin", async () => {
  const origins = ["https://a.example", "http://b.example:81"];
  const flags = origins.flatMap((origin) => ["--cors-origin", origin]);
  const { url } = await serve(flags);
  for (const origin of origins) {
    const answer = await fetch(`${url}/openapi.json`, { headers: { origin } });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
  }
});

describe("a log", () => {
  it("does not contain the token", async () => {
    const { url, stdout, stderr } = await serveOnce();
    const token = readSavedToken(configPath(), url);
    expect(token).toMatch(/^pst_/);
    expect(stdout + stderr).not.toContain("pst_");
    const messages = stderr.split("\n").map((line) => line && (JSON.parse(line) as object));
    const level = "info";
    const message = "Token: new, saved for this user";
    expect(messages).toContainEqual(expect.objectContaining({ level, message }));
  });

  it("has each request as a line of JSON, without token and body", async () => {
    const env = { PLANTSTORE_TOKEN: "chosen-secret" };
    const { url, stop } = await serve([], { env });
    await createFern(url, env);
    const { stderr } = await stop();
    const lines = stderr.split("\n").filter((line) => line.includes('"/plants"'));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: "info", method: "POST", path: "/plants", status: 200, bytes: 15 },
    ]);
    expect(stderr).not.toMatch(/chosen-secret|fern/);
  });

  it("has only errors with --log-level error, and lines of text with --log-format text", async () => {
    const quiet = await serve(["--log-level", "error"]);
    await createFern(quiet.url);
    expect((await quiet.stop()).stderr).toBe("");
    const readable = await serve(["--log-format", "text", "--port", new URL(quiet.url).port]);
    await createFern(readable.url);
    expect((await readable.stop()).stderr).toMatch(
      /\n\d{4}-\d\d-\d\dT\S+Z 200 POST \/plants unchanged [\d.]+ ms\n/,
    );
  });
});

describe("with its port in use", () => {
  it.each([
    [
      "the server",
      (taken: string) => ["-p", new URL(taken).port],
      (taken: string) => `error: a plant store already runs at ${taken}: use it, or choose`,
    ],
    [
      "metrics",
      (taken: string) => ["--port", "0", "--metrics", new URL(taken).host],
      () => "on 127.0.0.1 is already in use",
    ],
  ])("of %s, creates neither a directory nor a database", async (_what, toArgs, toMessage) => {
    const { url } = await serve([], { home: await createTemporaryDirectory() });
    expect(await failToServe([...toArgs(url)])).toExit(1, containing(toMessage(url)));
    expect(await readdir(inHome())).toEqual([]);
  });

  it("by another program, reports a wrong path of the store first", async () => {
    const { port } = new URL(await openRawServer((socket) => void socket.end()));
    const store = `sqlite:${inHome()}/missing/plants.db`;
    const problem = `error: the directory ${inHome()}/missing does not exist: create it, or mount its disk\n`;
    expect(await failToServe(["--port", port, "--store", store])).toExit(2, problem);
  });

  it("by another program, reports the port", async () => {
    const { port } = new URL(await openRawServer((socket) => void socket.end()));
    const problem = `error: port ${port} on 127.0.0.1 is already in use: stop the other process, or choose another with --host or --port\n`;
    expect(await failToServe(["--port", port])).toExit(1, problem);
  });
});

it("frees its port when the store cannot be opened", async () => {
  const { url } = await serveOnce();
  const { port } = new URL(url);
  const failed = await failToServe(["--port", port, "--store", "sqlite:."]);
  expect(failed).toMatchObject({ exitCode: 2, stdout: "" });
  expect(await serveOnce(["--port", port])).toMatchObject({ exitCode: 0, url });
});

it("warns about each unknown variable that begins with PLANTSTORE_", async () => {
  const env = { PLANTSTORE_PROT: "9999", PLANTSTORE_TOKN: "x", PLANTSTORE_EMPTY: "" };
  const { stderr } = await serveOnce([], { env });
  expect(stderr.match(/"warn","message":"PLANTSTORE_\w+ is unknown[^"]*/g)).toEqual(
    ["PROT", "TOKN"].map(
      (name) =>
        `"warn","message":"PLANTSTORE_${name} is unknown and has no effect: check its spelling`,
    ),
  );
});

describe("--ephemeral", () => {
  it("prints its URL on stdout, uses a free port, and saves nothing", async () => {
    const env = {
      PLANTSTORE_PORT: "7526",
      PLANTSTORE_STORE: "sqlite:/nonexistent/plants.db",
      PLANTSTORE_TOKEN: mintToken(),
    };
    const run = await serve(["--ephemeral"], { env });
    expect(run.stdout()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(run.stdout()).not.toContain(":7526\n");
    const { exitCode, stderr } = await run.stop();
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain("pst_");
    expect(await readdir(inHome())).toEqual([]);
  });

  it("--json prints the URL and the token, which works", async () => {
    const run = await serve(["--ephemeral", "--json"]);
    const started = JSON.parse(run.stdout()) as { url: string; token: string };
    expect(run.stdout()).toBe(`${JSON.stringify(started)}\n`);
    expect(Object.keys(started)).toEqual(["url", "token"]);
    const { url, token } = started;
    expect(await createFern(url, { PLANTSTORE_TOKEN: token })).toMatchObject({ exitCode: 0 });
    expect(await readdir(inHome())).toEqual([]);
  });

  it("accepts the token in PLANTSTORE_TOKEN, which --json does not print", async () => {
    const env = { PLANTSTORE_TOKEN: "a-chosen-token-1" };
    const run = await serve(["--ephemeral", "--json"], { env });
    const { url, ...others } = JSON.parse(run.stdout()) as { url: string };
    expect(others).toEqual({});
    expect(await createFern(url, env)).toMatchObject({ exitCode: 0 });
  });

  it("allows another port", async () => {
    const { url } = await serve([]);
    const { port } = new URL(url);
    const problem = `a plant store already runs at ${url}: use it`;
    expect(await failToServe(["--ephemeral", "--port", port])).toExit(1, containing(problem));
  });

  it("rejects --store", async () => {
    expect(await failToServe(["--ephemeral", "--store", "memory:"])).toExit(
      2,
      /^error: option '--ephemeral' cannot be used with option '--store <url>'\n/,
    );
  });
});

it("serves even if stderr is closed", async () => {
  const run = startCli(["serve", "--port", "0"], { home: inHome() });
  run.closeStderr();
  await run.saw("http://127.0.0.1:");
  expect(await run.stop()).toMatchObject({ exitCode: 0 });
});

it("stops on a signal that arrives while it starts", async () => {
  const run = startCli(["serve", "--port", "0"], { home: inHome() });
  await expect.poll(() => run.signal("SIGINT")).toBe(true);
  expect(await run.finished).toMatchObject({ exitCode: 0 });
});

it.each([
  ["--host 0.0.0.0", "0.0.0.0", "http://127.0.0.1:"],
  ["--host ::1", "::1", "http://[::1]:"],
  ["--host localhost", "localhost", "http://localhost:"],
])("%s: prints a URL that clients can reach", async (_what, host, start) => {
  const { url } = await serve(["--host", host]);
  expect(url.slice(0, start.length)).toBe(start);
  expect(await createFern(url)).toMatchObject({ exitCode: 0, stdout: '{"name":"fern"}\n' });
});

describe("a network that others can listen to", () => {
  it.each([
    ["--host", "0.0.0.0"],
    ["--host", "::"],
  ])("%s %s: warns that tokens are not encrypted", async (...args) => {
    const run = await serve(args);
    await run.saw("tokens arrive at");
    expect(run.stderr()).toContain('"level":"warn","message":"tokens arrive at');
  });

  it("is not warned about on a loopback address", async () => {
    const { stderr } = await serveOnce(["--host", "::1"]);
    expect(stderr).not.toContain("unencrypted");
  });
});

describe("a secret that other users can read or guess", () => {
  it("is warned about: a token of fewer than 16 characters", async () => {
    const serveWith = async (token: string): Promise<string> => {
      const run = await serve(["--store", "memory:"], { env: { PLANTSTORE_TOKEN: token } });
      await run.saw("Listening on");
      return (await run.stop()).stderr;
    };
    const warning = /"level":"warn","message":"the token in PLANTSTORE_TOKEN has fewer than 16 cha/;
    expect(await serveWith("x".repeat(15))).toMatch(warning);
    expect(await serveWith("x".repeat(16))).not.toMatch(warning);
  });

  it("is warned about: the store, its directory and the saved tokens", async () => {
    const quiet = await serveOnce();
    expect(quiet.stderr).not.toContain('"level":"warn"');
    const data = inHome(".local/share/plantstore");
    await chmod(join(data, "plants.db"), 0o644);
    await chmod(data, 0o755);
    await chmod(configPath(), 0o777);
    const { stderr } = await serveOnce();
    const warnings = stderr.match(/"level":"warn","message":"[^"\\]*/g)?.join("\n");
    expect(warnings).toContain(`${data}/plants.db can be read by other users (mode 644)`);
    expect(warnings).toContain(`${data} can be read by other users (mode 755)`);
    expect(warnings).toContain(`${configPath()} can be read and changed by other users (mode 777)`);
  });

  it("is warned about, and does not stop the server: the saved token", async () => {
    const args = ["--port", new URL(await findClosedUrl()).port];
    const { url } = await serveOnce(args);
    const file = toTokenFile(configPath(), url);
    await chmod(file, 0o660);
    const run = await serve(args);
    await run.saw("the one that is saved for this user");
    expect(await createFern(url)).toMatchObject({ exitCode: 2 });
    const { stderr } = await run.stop();
    expect(stderr).toContain(
      `"level":"warn","message":"${file} can be read and changed by other users (mode 660)\\n`,
    );
    // Not the business of a server that has another token, or none that is saved.
    const env = { PLANTSTORE_TOKEN: mintToken() };
    expect((await serveOnce(args, { env })).stderr).not.toContain(file);
  });

  it("is reported with each failed create: a log that was removed while the store is in use", async () => {
    const { url, stop } = await serve();
    expect(await fetch(new URL("/readyz", url))).toMatchObject({ status: 200 });
    await rm(inHome(".local/share/plantstore/plants.db-wal"));
    const args = ["create", "--url", url, "--retry", "0", "--id", "1", "--name", "a"];
    expect((await runCli(args, { home: inHome() })).stdout).toContain('{"error":50700,');
    const ready = await fetch(new URL("/readyz", url));
    expect(await ready.json()).toMatchObject({ error: 50_700 });
    expect((await stop()).stderr).toMatch(
      /"level":"error","message":"store: the store \S+ lost its log/,
    );
  });
});

it("a SIGHUP stops a server whose terminal was closed", async () => {
  const run = await serve([], { terminals: allTerminals });
  run.hangUp();
  expect(await run.finished).toMatchObject({ exitCode: 0 });
});

it("logs an uncaught error with its stack, and continues to serve", async () => {
  const run = await serve();
  run.throwUncaught(new TypeError("x is not a function"));
  await run.saw("unexpected: TypeError: x is not a function\\n    at ");
  expect(await createFern(run.url)).toMatchObject({ exitCode: 0 });
});

describe("the end of the parent process", () => {
  it.each<[what: string, env: Readonly<Record<string, string>>]>([
    ["npm start", { npm_lifecycle_event: "start", npm_package_name: "plantstore" }],
    ["npx", { npm_lifecycle_event: "npx", npm_lifecycle_script: "'plantstore'" }],
    ["npx -c", { npm_lifecycle_event: "npx", npm_lifecycle_script: "plantstore serve" }],
  ])("stops a server that %s started", async (_what, env) => {
    const run = await serve([], { env });
    expect(run.endParent()).toBe(true);
    const message = containing("Stopping: npm, which started this server, has ended");
    expect(await run.finished).toExit(0, message, `${run.url}\n`);
  });

  it.each<[what: string, env: Readonly<Record<string, string>>]>([
    ["a shell", {}],
    ["a user's own npm script", { npm_lifecycle_event: "start", npm_package_name: "greenhouse" }],
    [
      "another script of the package",
      { npm_lifecycle_event: "dev", npm_package_name: "plantstore" },
    ],
    ["a program that npx runs", { npm_lifecycle_event: "npx", npm_lifecycle_script: "'vitest'" }],
  ])("is not watched by a server that %s started", async (_what, env) => {
    const run = await serve([], { env });
    expect(run.endParent()).toBe(false);
  });
});

describe("--metrics", () => {
  it("main: counts requests and commits on the main address", async () => {
    const { url } = await serve(["--metrics", "main"]);
    await createFern(url);
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain('plantstore_plants_total{result="created"} 1\n');
    expect(text).toContain("plantstore_commit_plants_count 1\n");
    expect(text).toContain("plantstore_create_durable_seconds_count 1\n");
    expect(text).toContain("plantstore_connections 1\n");
    expect(text).toContain("plantstore_connections_limit 10000\n");
    expect(text).toContain("plantstore_ready 1\n");
    expect(text).toContain("plantstore_log_lines_dropped_total 0\n");
  });

  it("HOST:PORT: serves metrics only there", async () => {
    const run = await serve(["--metrics", "127.0.0.1:0"]);
    await run.saw("Metrics are at ");
    const own = /Metrics are at ([^"]+)/.exec(run.stderr())?.[1] ?? "";
    expect((await fetch(own)).status).toBe(200);
    expect((await fetch(`${run.url}/metrics`)).status).toBe(404);
  });

  it.each<[where: string, toAddress: (url: URL) => string, message: RegExp]>([
    [
      "a port that is in use",
      ({ host }) => host,
      /port \d+ on 127\.0\.0\.1 is already in use: .* --metrics/,
    ],
    [
      "an address of another machine",
      () => "192.0.2.1:0",
      /^error: 192\.0\.2\.1 is not an address of this machine: check --metrics$/m,
    ],
  ])("at %s: reports the address and the flag", async (_where, toAddress, message) => {
    const { url } = await serve();
    const args = ["--port", "0", "--store", "memory:", "--metrics", toAddress(new URL(url))];
    const result = await failToServe([...args]);
    expect(result).toExit(1, message);
    expect(result.stderr).not.toMatch(/--(?:port|host)\b/);
  });
});

it("does not start under Bun, whose node:http differs", async () => {
  const problem = "error: serve does not run under Bun: run it with Node.js, without --bun\n";
  const args = ["serve", "--store", "memory:"];
  expect(await runCli(args, { bunVersion: "1.4.5" })).toExit(1, problem);
});
