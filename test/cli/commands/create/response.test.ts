import { PassThrough } from "node:stream";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { saveSettings } from "../../../../src/cli/config/saved-settings.ts";
import {
  type Responder,
  errorResponse,
  findClosedUrl,
  json,
  openScriptedServer,
} from "../../../client/scripted-server.ts";
import {
  allTerminals,
  type CliOptions,
  containing,
  runCli,
  startCli,
} from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

const fern = ["--id", "1", "--name", "fern"];

function createAt(url: string, args: readonly string[] = [], options: CliOptions = {}) {
  return runCli(["create", ...fern, ...args], { server: { url }, ...options });
}

/** Creates the plant at a server with one responder. */
async function createWith(respond: Responder, options?: CliOptions, args?: readonly string[]) {
  const { url } = await openScriptedServer(respond);
  return { url, ...(await createAt(url, args, options)) };
}

/** A terminal without a width shows no progress, however long a test takes. */
const terminal = { terminals: allTerminals, columns: 0 };
/** Characters that move or hide other text, or that JSON escapes. */
const nasty = '\u001b[31m \u202e \u0085 \u2028 \u00a0 " \\ \n \u{1F331}';

describe("a Plant", () => {
  it("is one line of JSON on stdout, and stderr stays empty", async () => {
    const result = await createWith(json(200, ' {"tag": "pot","name":"a"} '));
    expect(result).toPrint('{"name":"a","tag":"pot"}\n');
  });

  it.each(["created", "unchanged", "replaced"])("has the status %s with --json", async (status) => {
    const response = json(200, '{"name":"a"}', { "x-plantstore-result": status });
    const result = await createWith(response, {}, ["--json"]);
    expect(result).toPrint(`{"id":1,"status":"${status}","plant":{"name":"a"}}\n`);
  });

  it("is a line with the status valid with --json in a dry run", async () => {
    const { stdout } = await createAt("http://127.0.0.1:1", ["--json", "--dry-run"]);
    expect(stdout).toBe('{"id":1,"status":"valid","plant":{"name":"fern"}}\n');
  });

  it("is not printed with --quiet, but an Error is", async () => {
    const plant = await createWith(json(200, '{"name":"a"}'), {}, ["--quiet"]);
    expect(plant).toPrint("");
    const error = await createWith(errorResponse(40900), {}, ["--quiet"]);
    const output = '{"error":40900,"message":"message of 40900"}\n';
    expect(error).toMatchObject({ exitCode: 5, stdout: output });
  });

  it.each([
    ["created", "created plant 1"],
    ["unchanged", "unchanged: plant 1 was already in the store"],
    ["replaced", "replaced plant 1: another plant had this id"],
    ["nonsense", "created plant 1"],
  ])("with the result %s is confirmed on a terminal with %j", async (result, confirmation) => {
    const respond = json(200, '{"name":"a"}', { "x-plantstore-result": result });
    const { url, exitCode, stderr } = await createWith(respond, terminal);
    const server = `Server: ${url}\n`;
    expect(exitCode).toBe(0);
    expect(stderr).toBe(`${server}\u001b[32m✓\u001b[39m ${confirmation}\n`);
    const plain = { ...terminal, env: { NO_COLOR: "1" } };
    expect((await createWith(respond, plain)).stderr).toMatch(new RegExp(`\n✓ ${confirmation}\n$`));
    expect(await createWith(respond)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await createWith(respond, plain, ["--quiet"])).toMatchObject({ stdout: "", stderr: "" });
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

  it.each([
    [40900, 5, "rejected"],
    [50301, 6, "failed"],
  ])("%i is a line with its status with --json", async (error, code, status) => {
    const respond = errorResponse(error, { "X-Request-Id": "a-1" });
    const { exitCode, stdout } = await createWith(respond, {}, ["--json", "--retry", "0"]);
    expect(exitCode).toBe(code);
    expect(stdout).toBe(
      `{"id":1,"status":"${status}","error":{"error":${error},"message":"message of ${error}"},"requestId":"a-1"}\n`,
    );
  });

  it("of an invalid plant is a line with its status with --json", async () => {
    const result = await runCli(["create", "--id", "x", "--name", "a", "--json"]);
    const line = /^\{"status":"rejected","error":\{"error":42202,"message":"[^\n]*"\}\}\n$/;
    expect(result).toExit(3, containing("error 42202: "), line);
  });

  it.each([40100, 40101, 40102, 40103])("%i names where the token came from", async (error) => {
    const { stderr } = await createWith(errorResponse(error));
    expect(stderr).toBe(
      `error ${error}: message of ${error} (the token came from PLANTSTORE_TOKEN)\n`,
    );
  });

  it("of a wrong path advises to change the URL where it comes from", async () => {
    const { url } = await openScriptedServer(errorResponse(40400));
    const home = await createTemporaryDirectory();
    const run = async (args: readonly string[], variable = "") => {
      const env = { PLANTSTORE_TOKEN: "secret", PLANTSTORE_URL: variable };
      return (await runCli(["create", ...fern, ...args], { env, home })).stderr;
    };
    await saveSettings(join(home, ".config/plantstore"), { login: `${url}/saved` });
    expect(await run([])).toContain("(check the URL of the last login, which is ");
    expect(await run([], `${url}/v1`)).toContain("(check PLANTSTORE_URL, which is ");
    expect(await run(["--url", `${url}/v1`], `${url}/v1`)).toContain("(check --url, which is ");
    const whole = await run(["--url", `${url}/v1/plants`], `${url}/v2`);
    expect(whole).toContain("(remove /plants from --url, which is ");
  });

  it("names the request id", async () => {
    const { stderr } = await createWith(errorResponse(40900, { "X-Request-Id": "a-1" }));
    expect(stderr).toBe("error 40900: message of 40900 (request a-1)\n");
  });

  it("has only text on stderr that the JSON does not contain, if both are on a terminal", async () => {
    const options = { ...terminal, env: { NO_COLOR: "1" } };
    const rejected = await createWith(errorResponse(40102), options);
    expect(rejected.stdout).toBe('{"error":40102,"message":"message of 40102"}\n');
    expect(rejected.stderr).toBe(
      `Server: ${rejected.url}\nerror 40102: the token came from PLANTSTORE_TOKEN\nSee how to fix it:\n  plantstore explain 40102\n`,
    );
    const onlyErrors = { ...options, terminals: { stderr: true } };
    const redirected = await createWith(errorResponse(40102), onlyErrors);
    expect(redirected.stderr).toContain("message of 40102");
    // Without advice, stderr repeats the message.
    const unknown = await createWith(errorResponse(49999), options);
    expect(unknown.stderr).toBe(`Server: ${unknown.url}\nerror 49999: message of 49999\n`);
  });

  it("is red on a terminal, and plain text in a pipe", async () => {
    const { stderr } = await createWith(errorResponse(40900), terminal);
    expect(stderr).toContain("\u001b[1m\u001b[31merror 40900\u001b[39m\u001b[22m: ");
    const piped = await createWith(errorResponse(40900));
    expect(piped.stdout + piped.stderr).not.toContain("\u001b");
  });
});

it.each([
  ["a Plant", 200, { name: nasty }],
  ["an Error", 400, { error: 40900, message: nasty }],
])("%s is exact in a pipe, and escaped on a terminal", async (_what, status, body) => {
  const respond = json(status, JSON.stringify(body));
  const piped = await createWith(respond);
  expect(piped.stdout).toBe(`${JSON.stringify(body)}\n`);
  expect(piped.stderr).toMatch(/^(?:error 40900: [ -~\u{1F331}]*\n)?$/u);
  const { stdout } = await createWith(respond, { terminals: { stdout: true } });
  expect(stdout).toMatch(/^[ -~\u{1F331}]*\n$/u);
  expect(JSON.parse(stdout)).toEqual(body);
});

describe("a limit of a proxy", () => {
  const html = (status: number) => json(status, "<h1>", { "content-type": "text/html" });

  it("of bodies rejects the plant without a number", async () => {
    const single = await createWith(html(413));
    expect(single).toExit(3, /^error: [^\n]*limits bodies[^\n]*\n$/);
    const { stdout } = await createWith(html(413), {}, ["--json"]);
    expect(stdout).toMatch(/^\{"id":1,"status":"rejected","error":\{"message":"[^"]*"\}\}\n$/);
  });

  it.each([414, 431])("with the status %i names the proxy", async (status) => {
    const result = await createWith(html(status));
    expect(result).toExit(7, /^error: a proxy in front of the store limits URLs.* in nginx\n$/);
  });
});

describe("an unavailable plant store", () => {
  it("is a line with its status with --json, and a sentence on stderr", async () => {
    const url = await findClosedUrl();
    const line = /^\{"id":1,"status":"failed","error":\{"message":"cannot connect to /;
    const result = await createAt(url, ["--json", "--retry", "0"]);
    expect(result).toExit(6, /^error: cannot connect to /, line);
  });

  it("is reported with the next step after three attempts", async () => {
    const url = await findClosedUrl();
    const problem = `error: cannot connect to ${url} after 3 attempts: connection refused\nStart a server, or check PLANTSTORE_URL:\n  plantstore serve --port ${new URL(url).port}\n`;
    expect(await createAt(url)).toExit(6, problem);
  });

  it("gets as many retries as --retry allows", async () => {
    const { url, requests } = await openScriptedServer(errorResponse(50301));
    const problem = "error 50301: message of 50301 (after 2 attempts)\n";
    const output = '{"error":50301,"message":"message of 50301"}\n';
    expect(await createAt(url, ["--retry", "1"])).toExit(6, problem, output);
    expect(requests).toHaveLength(2);
  });

  it("is reported once on a terminal", async () => {
    const failure = errorResponse(50301);
    const { url } = await openScriptedServer(failure, failure, json(200, '{"name":"a"}'));
    const message =
      /^Server: .*\n.*warning.*: http:\/\/127\.0\.0\.1:\d+ is unavailable \(error 50301\), retrying\n.*✓.* created plant 1\n$/;
    const options = { ...terminal, terminals: { stderr: true } };
    expect(await createAt(url, [], options)).toExit(0, message, '{"name":"a"}\n');
  });

  it("is not reported in a pipe if a retry succeeds", async () => {
    const { url } = await openScriptedServer(errorResponse(50301), json(200, '{"name":"a"}'));
    expect(await createAt(url)).toPrint('{"name":"a"}\n');
  });

  it("without a response within --timeout leaves the result unknown", async () => {
    const args = ["--timeout", "0.2", "--retry", "0"];
    const { url, ...result } = await createWith(() => {}, {}, args);
    const problem = `error: no complete response from ${url} (waited 0.2 s): the plant may or may not exist; you can run the command again; a higher --timeout waits longer\n`;
    expect(result).toExit(6, problem);
  });

  it("behind a proxy leaves the result unknown, and the exit code is 6", async () => {
    const { url, ...result } = await createWith(json(503, "<h1>"), {}, ["--retry", "0"]);
    const problem = `error: a proxy at ${url} responded instead of the plant store (status 503): the plant may or may not exist; you can run the command again\n`;
    expect(result).toExit(6, problem);
  });

  it.each<[when: string, respond: Responder]>([
    [
      "closed in the middle of the response",
      (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": 9 });
        response.write("{", () => response.destroy());
      },
    ],
    ["closed before the response", (response) => void response.destroy()],
  ])("with a connection that is %s leaves the result unknown", async (when, respond) => {
    const { stderr, exitCode } = await createWith(respond, {}, ["--retry", "0"]);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(/^error: lost the connection to /);
    expect(stderr).toContain(` (${when}): the plant may or may not exist`);
  });
});

describe("a token over unencrypted HTTP", () => {
  it("causes one warning if it leaves the machine", async () => {
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
  ])("causes no warning at %s", async (url) => {
    const { stderr } = await createAt(url, ["--retry", "0", "--timeout", "1"]);
    expect(stderr).toMatch(/^error: [^\n]*\n(?:[A-Z][^\n]*:\n {2}plantstore [^\n]*\n)?$/);
  });
});

describe("a signal during a create", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s reports that the result is unknown, and exits with %i", async (signal, code) => {
    const server = await openScriptedServer(() => run.signal(signal));
    const run = startCli(["create", ...fern], { server });
    const problem = `error: stopped by ${signal}: the plant may or may not exist; you can run the command again\n`;
    expect(await run.finished).toExit(code, problem);
    expect(server.requests).toHaveLength(1);
    expect(run.signal(signal), "no handler remains").toBe(false);
  });

  it("reports that nothing was sent if the plant is not read yet", async () => {
    const stdin = new PassThrough();
    const server = await openScriptedServer(json(200, '{"name":"a"}'));
    const run = startCli(["create", "-"], { server, stdin, terminals: { stdin: true } });
    await run.saw("reading plants as JSON from the terminal");
    run.signal("SIGINT");
    const result = await run.finished;
    expect(result).toExit(130, /\nerror: stopped by SIGINT before anything was sent\n$/);
    expect(stdin.destroyed).toBe(true);
  });
});

it("a create whose output is closed exits with 141 and no message", async () => {
  const server = await openScriptedServer((response) => {
    run.closeStdout();
    json(200, '{"name":"a"}')(response);
  });
  const run = startCli(["create", ...fern], { server });
  expect(await run.finished).toExit(141, "");
});

describe("a message about the wait for the server", () => {
  it("is shown on a terminal after a while", async () => {
    const server = await openScriptedServer((response) => {
      void run.saw("waiting for").then(() => json(200, '{"name":"a"}')(response));
    });
    const run = startCli(["create", ...fern], { server, terminals: { stderr: true } });
    const result = await run.finished;
    expect(result).toExit(0, containing(`waiting for ${server.url}`), '{"name":"a"}\n');
    const afterwards = result.stderr.split("\u001b[0K").at(-1);
    expect(afterwards).toBe("\u001b[32m✓\u001b[39m created plant 1\n");
  });

  it.each<[where: string, options: CliOptions, flags: readonly string[]]>([
    ["on a terminal without a width", terminal, []],
    ["with --quiet", { terminals: allTerminals }, ["--quiet"]],
    ["in a pipe", {}, []],
  ])("is not shown %s", async (_where, options, flags) => {
    const args = ["--timeout", "0.6", "--retry", "0", ...flags];
    const { stderr } = await createWith(() => {}, options, args);
    expect(stderr).not.toContain("waiting for");
  });
});
