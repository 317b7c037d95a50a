import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import {
  type Responder,
  errorResponse,
  findClosedUrl,
  json,
  openScriptedServer,
} from "../client/scripted-server.ts";
import { allTerminals, type CliOptions, runCli, startCli } from "../helpers/run-cli.ts";

const fern = ["--id", "1", "--name", "fern"];

function createAt(url: string, args: readonly string[] = [], options: CliOptions = {}) {
  const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: "secret", ...options.env };
  return runCli(["create", ...fern, ...args], { ...options, env });
}

/** The plant is created at a server that answers like this. */
async function createWith(respond: Responder, options?: CliOptions, args?: readonly string[]) {
  const { url } = await openScriptedServer(respond);
  return { url, ...(await createAt(url, args, options)) };
}

const terminal = { terminals: allTerminals };
/** Everything that moves or hides other text, and what JSON itself needs escaped. */
const nasty = '\u001b[31m \u202e \u0085 \u2028 \u00a0 " \\ \n \u{1F331}';

describe("a Plant", () => {
  it("is one line of JSON on stdout, and stderr stays empty", async () => {
    const { exitCode, stdout, stderr } = await createWith(json(200, ' {"tag": "pot","name":"a"} '));
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: '{"name":"a","tag":"pot"}\n',
      stderr: "",
    });
  });

  it("is exact in a pipe", async () => {
    const { stdout } = await createWith(json(200, JSON.stringify({ name: nasty })));
    expect(stdout).toBe(`${JSON.stringify({ name: nasty })}\n`);
  });

  it("is not printed with --quiet, and an Error is", async () => {
    const plant = await createWith(json(200, '{"name":"a"}'), {}, ["--quiet"]);
    expect(plant).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    const error = await createWith(errorResponse(40900), {}, ["--quiet"]);
    expect(error).toMatchObject({
      exitCode: 5,
      stdout: '{"error":40900,"message":"message of 40900"}\n',
    });
  });

  it("has escapes on a terminal for what the terminal would obey, and is the same JSON", async () => {
    const { stdout } = await createWith(json(200, JSON.stringify({ name: nasty })), terminal);
    expect(stdout).toMatch(/^[ -~\u{1F331}]*\n$/u);
    expect(JSON.parse(stdout)).toEqual({ name: nasty });
  });

  it.each([
    ["created", "created plant 1"],
    ["unchanged", "unchanged: plant 1 was already in the store"],
    ["replaced", "replaced plant 1: another plant had this id"],
    ["nonsense", "plant 1 is in the store"],
  ])("that was %s is confirmed on a terminal with %j", async (result, confirmation) => {
    const answer = json(200, '{"name":"a"}', { "x-plantstore-result": result });
    const stderr = `\u001b[32m✓\u001b[39m ${confirmation}\n`;
    expect(await createWith(answer, terminal)).toMatchObject({ exitCode: 0, stderr });
    const plain = { ...terminal, env: { NO_COLOR: "1" } };
    expect(await createWith(answer, plain)).toMatchObject({ stderr: `✓ ${confirmation}\n` });
    expect(await createWith(answer)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await createWith(answer, plain, ["--quiet"])).toMatchObject({ stdout: "", stderr: "" });
  });
});

describe("an Error", () => {
  it.each([
    [40001, 3],
    [40102, 4],
    [40900, 5],
    [50000, 6],
    [40400, 7],
    [1, 3],
  ])("%i is JSON on stdout, a sentence on stderr, and exit code %i", async (error, code) => {
    const { exitCode, stdout, stderr } = await createWith(errorResponse(error));
    expect(exitCode).toBe(code);
    expect(stdout).toBe(`{"error":${error},"message":"message of ${error}"}\n`);
    expect(stderr).toMatch(new RegExp(`^error ${error}: message of ${error}[^\\n]*\\n$`));
  });

  it.each([40100, 40101, 40102, 40103])("%i names where the token came from", async (error) => {
    const { stderr } = await createWith(errorResponse(error));
    expect(stderr).toBe(
      `error ${error}: message of ${error} (the token came from PLANTSTORE_TOKEN)\n`,
    );
  });

  it("40400 leads back to --url", async () => {
    const { url, stderr } = await createWith(errorResponse(40400));
    expect(stderr).toContain(`(check the path of --url, which is ${url})`);
  });

  it("names the request, by which the server's log is searched", async () => {
    const { stderr } = await createWith(errorResponse(40900, { "X-Request-Id": "a-1" }));
    expect(stderr).toBe("error 40900: message of 40900 (request a-1)\n");
  });

  it("is exact in a pipe; its sentence is one line, and safe, everywhere", async () => {
    const answer = json(400, JSON.stringify({ error: 40900, message: nasty }));
    const { stdout, stderr } = await createWith(answer);
    expect(stdout).toBe(`${JSON.stringify({ error: 40900, message: nasty })}\n`);
    expect(stderr).toMatch(/^error 40900: [ -~\u{1F331}]*\n$/u);
  });

  it("has escapes on a terminal for what the terminal would obey, and is the same JSON", async () => {
    const answer = json(400, JSON.stringify({ error: 40900, message: nasty }));
    const { stdout } = await createWith(answer, { terminals: { stdout: true } });
    expect(stdout).toMatch(/^[ -~\u{1F331}]*\n$/u);
    expect(JSON.parse(stdout)).toEqual({ error: 40900, message: nasty });
  });

  it("has only what the JSON does not say on stderr, if both are on a terminal", async () => {
    const options = { ...terminal, env: { NO_COLOR: "1" } };
    const rejected = await createWith(errorResponse(40102), options);
    expect(rejected.stdout).toBe('{"error":40102,"message":"message of 40102"}\n');
    expect(rejected.stderr.replaceAll(/\s+/g, " ")).toBe(
      'error 40102: the token came from PLANTSTORE_TOKEN; "plantstore explain 40102" shows how to fix it ',
    );
    const beside = await createWith(errorResponse(40102), {
      ...options,
      terminals: { stderr: true },
    });
    expect(beside.stderr).toContain("message of 40102");
    // Without advice, the sentence is all there is.
    const unknown = await createWith(errorResponse(49999), options);
    expect(unknown.stderr).toBe("error 49999: message of 49999\n");
  });

  it("is red on a terminal, and nothing but text in a pipe", async () => {
    const { stderr } = await createWith(errorResponse(40900), terminal);
    expect(stderr).toContain("\u001b[1m\u001b[31merror 40900\u001b[39m\u001b[22m: ");
    const piped = await createWith(errorResponse(40900));
    expect(piped.stdout + piped.stderr).not.toContain("\u001b");
  });
});

describe("what is unavailable", () => {
  it("is tried three times, and then said with the next step", async () => {
    const url = await findClosedUrl();
    expect(await createAt(url)).toEqual({
      exitCode: 6,
      stdout: "",
      stderr: `error: cannot connect to ${url} after 3 attempts: connection refused: start a server with "plantstore serve", or set --url\n`,
    });
  });

  it("is tried as often as --retry says", async () => {
    const { url, requests } = await openScriptedServer(errorResponse(50301));
    const { exitCode, stderr } = await createAt(url, ["--retry", "1"]);
    expect(exitCode).toBe(6);
    expect(stderr).toBe("error 50301: message of 50301 (after 2 attempts)\n");
    expect(requests).toHaveLength(2);
  });

  it("is said once for each retry on a terminal", async () => {
    const { url } = await openScriptedServer(errorResponse(50301), json(200, '{"name":"a"}'));
    const { exitCode, stderr } = await createAt(url, [], { terminals: { stderr: true } });
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ is unavailable \(error 50301\): attempt 2 of 3 in 0\.\d s\n.*✓.* plant 1 is in the store\n$/,
    );
  });

  it("and comes back is not spoken of in a pipe", async () => {
    const { url } = await openScriptedServer(errorResponse(50301), json(200, '{"name":"a"}'));
    expect(await createAt(url)).toEqual({ exitCode: 0, stdout: '{"name":"a"}\n', stderr: "" });
  });

  it("within --timeout leaves the plant in doubt", async () => {
    const args = ["--timeout", "0.2", "--retry", "0"];
    const { url, exitCode, stderr } = await createWith(() => {}, {}, args);
    expect(exitCode).toBe(6);
    expect(stderr).toBe(
      `error: no complete response from ${url} (waited 0.2 s): the plant may or may not exist; the same command can be repeated; a higher --timeout waits longer\n`,
    );
  });

  it("behind a proxy leaves the plant in doubt: exit 6", async () => {
    const { url, exitCode, stdout, stderr } = await createWith(json(503, "<h1>"), {}, [
      "--retry",
      "0",
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: "" });
    expect(stderr).toBe(
      `error: a proxy at ${url} responded instead of the plant store (status 503): the plant may or may not exist; the same command can be repeated\n`,
    );
  });

  it("and breaks off in the middle leaves the plant in doubt", async () => {
    const half = (response: ServerResponse): void => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 9 });
      response.write("{");
      setTimeout(() => response.destroy(), 100);
    };
    const { exitCode, stderr } = await createWith(half, {}, ["--retry", "0"]);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(
      /lost the connection to .* \(closed in the middle of the response\): the plant may/,
    );
  });

  it("and breaks off leaves the plant in doubt", async () => {
    const args = ["--retry", "0"];
    const { exitCode, stderr } = await createWith((response) => response.destroy(), {}, args);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(
      /^error: lost the connection to .* \(closed before the response\): the plant may or may not/,
    );
  });

  it("because its name is unknown leads back to --url", async () => {
    const { exitCode, stderr } = await createAt("http://plantstore.invalid", ["--retry", "0"]);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(
      /error: cannot resolve the host of http:\/\/plantstore\.invalid \(E\w+\): check --url\n$/,
    );
  });

  it("because TLS fails says why", async () => {
    const { url } = await openScriptedServer(json(200, "{}"));
    const { exitCode, stderr } = await createAt(url.replace("http:", "https:"), ["--retry", "0"]);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(
      /^error: no secure connection to https:\/\/127\.0\.0\.1:\d+: the server does not use TLS, .* http:\n$/,
    );
  });
});

describe("what is not a plant store", () => {
  it.each<[what: string, respond: Responder, came: string]>([
    ["redirects", json(302, "", { location: "/login" }), "it redirects to /login"],
    ["says something in HTML", json(200, "<p>", { "content-type": "text/html" }), "text/html"],
    ["has no such page", json(404, "<p>"), "its response has the status 404"],
    ["compresses", json(200, "x", { "content-encoding": "br" }), "its response is compressed (br)"],
    ["says other things", json(200, '{"ok":true}'), "the status 200 but holds no Plant"],
  ])("%s: what came is said, exit 7", async (_what, answer, came) => {
    const { url, exitCode, stdout, stderr } = await createWith(answer);
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: "" });
    expect(stderr).toMatch(/^error: [^\n]*; check --url and its path\n$/);
    expect(stderr).toContain(`${url}/plants is not the create operation of a plant store`);
    expect(stderr).toContain(came);
  });
});

describe("a token over plain http", () => {
  it("is warned of, once, when it leaves the machine", async () => {
    const { stderr } = await createAt("http://plantstore.invalid/v1", ["--retry", "0"]);
    const [warning, error] = stderr.split("\n");
    expect(warning).toBe(
      "warning: sending the token to http://plantstore.invalid/v1 unencrypted; use https on untrusted networks",
    );
    expect(error).toMatch(/^error: /);
  });

  it.each([
    "https://plantstore.invalid",
    "http://localhost:1",
    "http://127.9.9.9:1",
    "http://[::1]:1",
  ])("is not warned of at %s", async (url) => {
    const { stderr } = await createAt(url, ["--retry", "0", "--timeout", "1"]);
    expect(stderr).toMatch(/^error: [^\n]*\n$/);
  });
});

describe("a signal while creating", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s leaves the plant in doubt, and says so: exit %i", async (signal, code) => {
    const { url, requests } = await openScriptedServer(() => run.signal(signal));
    const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: "secret" };
    const run = startCli(["create", ...fern], { env });
    expect(await run.finished).toEqual({
      exitCode: code,
      stdout: "",
      stderr: `error: stopped by ${signal}: the plant may or may not exist; the same command can be repeated\n`,
    });
    expect(requests).toHaveLength(1);
    expect(run.signal(signal), "nobody listens any more").toBe(false);
  });

  it("says that nothing was sent while the plant is being read", async () => {
    const stdin = new PassThrough();
    const run = startCli(["create", "-"], { stdin, terminals: { stdin: true } });
    await run.saw("reading plants as JSON from the terminal");
    run.signal("SIGINT");
    const { exitCode, stdout, stderr } = await run.finished;
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: "" });
    expect(stderr).toMatch(/\nerror: stopped by SIGINT before anything was sent\n$/);
    expect(stdin.destroyed).toBe(true);
  });
});

it("an output that nobody reads any more ends it quietly, with 141", async () => {
  const { url } = await openScriptedServer((response) => {
    run.closeStdout();
    json(200, '{"name":"a"}')(response);
  });
  const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: "secret" };
  const run = startCli(["create", ...fern], { env });
  expect(await run.finished).toEqual({ exitCode: 141, stdout: "", stderr: "" });
});

describe("a person who waits", () => {
  it("is shown that, after a while", async () => {
    const { url } = await openScriptedServer((response) => {
      void run.saw("waiting for").then(() => json(200, '{"name":"a"}')(response));
    });
    const env = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: "secret" };
    const run = startCli(["create", ...fern], { env, terminals: { stderr: true } });
    const { exitCode, stdout, stderr } = await run.finished;
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '{"name":"a"}\n' });
    expect(stderr).toContain(`waiting for ${url}`);
    const afterwards = stderr.split("\u001b[0K").at(-1);
    expect(afterwards).toBe("\u001b[32m✓\u001b[39m plant 1 is in the store\n");
  });

  it("is not shown it where the terminal has no width", async () => {
    const options = { terminals: { stderr: true }, columns: 0 };
    const args = ["--timeout", "0.6", "--retry", "0"];
    const { stderr } = await createWith(() => {}, options, args);
    expect(stderr).not.toContain("waiting");
  });

  it("is not shown it with --quiet", async () => {
    const args = ["--timeout", "0.6", "--retry", "0", "--quiet"];
    const { stderr } = await createWith(() => {}, terminal, args);
    expect(stderr).not.toContain("waiting");
  });

  it("is not shown it in a pipe", async () => {
    const args = ["--timeout", "0.6", "--retry", "0"];
    const { stderr } = await createWith(() => {}, {}, args);
    expect(stderr).toMatch(/^error: [^\n]*\n$/);
  });
});
