/** `plantstore login` and `logout`: the files that they save, and their messages. */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { mintToken } from "../../../src/auth/authenticator.ts";
import { readSavedToken, saveCredential, toTokenFile } from "../../helpers/credentials.ts";
import {
  readSavedSettings,
  saveSettings,
  toSettingsFile,
} from "../../../src/cli/config/saved-settings.ts";
import {
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
} from "../../client/scripted-server.ts";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import {
  allTerminals,
  type CliOptions,
  containing,
  runCli,
  startCli,
} from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

let directory: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
});

function withDirectory({ env, ...options }: CliOptions = {}): CliOptions {
  return { ...options, env: { PLANTSTORE_CONFIG_DIR: directory, ...env } };
}

function run(args: readonly string[], options?: CliOptions) {
  return runCli(args, withDirectory(options));
}

function login(url: string, token: string, options?: CliOptions) {
  return run(["login", "--url", url], { ...options, stdin: `${token}\n` });
}

async function expectNothingSaved(url: string): Promise<void> {
  expect(readSavedToken(directory, new URL(url).origin)).toBeUndefined();
  expect(readSavedSettings(directory)).toEqual({});
}

describe("login", () => {
  it("saves an accepted token for this user only, and its plant store becomes the default", async () => {
    await using server = await startServer({ basePath: "/v1" });
    const message = `✓ logged in to ${server.url}, which is now the default\n`;
    expect(await login(server.url, testToken)).toExit(0, message);
    expect(await server.store.list({ limit: 1 })).toEqual([]);
    const files = [toTokenFile(directory, new URL(server.url).origin), toSettingsFile(directory)];
    const modes = await Promise.all(files.map(async (file) => (await stat(file)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o600]);
    expect(await run(["create", "--id", "1", "--name", "fern"])).toPrint('{"name":"fern"}\n');
  });

  it("saves tokens of several servers: the last one is the default, and --url selects another", async () => {
    await using first = await startServer();
    await using second = await startServer();
    await login(first.url, testToken);
    await login(second.url, testToken);
    await run(["create", "--id", "2", "--name", "moss"]);
    await run(["create", "--id", "1", "--name", "fern", "--url", first.url]);
    expect(await first.store.list({ limit: 9 })).toEqual([{ id: 1n, name: "fern" }]);
    expect(await second.store.list({ limit: 9 })).toEqual([{ id: 2n, name: "moss" }]);
  });

  it("asks for the token on a terminal, and does not show it", async () => {
    await using server = await startServer();
    const stdin = new PassThrough();
    const options = withDirectory({ stdin, terminals: allTerminals });
    const terminal = startCli(["login", "--url", server.url], options);
    await terminal.saw(`Token for ${server.url} (it is not shown): `);
    stdin.write(`${testToken}\n`);
    expect((await terminal.finished).exitCode).toBe(0);
    expect(readSavedToken(directory, server.url)).toBe(testToken);
  });

  it("uses a saved token that works on a terminal, and asks for another if it does not", async () => {
    await using first = await startServer();
    await using second = await startServer();
    for (const { url } of [first, second]) await login(url, testToken);
    const terminals = { terminals: allTerminals };
    const again = await login(first.url, "", terminals);
    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stderr).not.toContain("Token for");
    await run(["create", "--id", "1", "--name", "fern"]);
    expect(await first.store.list({ limit: 9 })).toEqual([{ id: 1n, name: "fern" }]);
    await saveCredential(directory, { origin: second.url, token: mintToken() });
    const other = await login(second.url, testToken, terminals);
    expect(other.stderr).toContain(`Token for ${second.url}`);
    expect(readSavedToken(directory, second.url)).toBe(testToken);
  });

  it("does not ask if the connection is lost while it checks a saved token", async () => {
    const { url } = await openScriptedServer(errorResponse(40100), (response) =>
      response.destroy(),
    );
    await saveCredential(directory, { origin: url, token: testToken });
    const result = await login(url, testToken, { terminals: allTerminals });
    expect(result).toExit(6, /error.*: lost the connection [^]*\nnothing was saved\n$/);
    expect(result.stderr).not.toContain("Token for");
  });

  it("asks on the stream that is a terminal", async () => {
    await using server = await startServer();
    const { stdout } = await login(server.url, testToken, {
      terminals: { stdin: true, stdout: true },
    });
    expect(stdout).toBe(`Token for ${server.url} (it is not shown): \n`);
  });

  it.each(["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE", "PLANTSTORE_URL"])(
    "reads no token from the environment, and warns that %s overrides the saved values",
    async (variable) => {
      await using server = await startServer();
      const { exitCode, stderr } = await login(server.url, testToken, {
        env: { [variable]: "http://127.0.0.1:1" },
      });
      expect(exitCode).toBe(0);
      expect(stderr).toContain(`warning: ${variable} is set, and overrides saved values\n`);
      expect(readSavedToken(directory, server.url)).toBe(testToken);
    },
  );

  it("warns once if the token is sent unencrypted", async () => {
    const url = (await openScriptedServer(errorResponse(42201))).url;
    const { stderr } = await login(url.replace("127.0.0.1", "0.0.0.0"), testToken);
    expect(stderr.match(/^warning: sending the token to http:.* unencrypted/gm)).toHaveLength(1);
  });

  it.each([
    ["", "is empty"],
    ["two words", "contains a space"],
    [mintToken().slice(0, -1), "is incomplete or mistyped"],
  ])("rejects the token %j without sending it", async (token, complaint) => {
    const server = await openScriptedServer(errorResponse(40100));
    const result = await login(server.url, token);
    expect(result).toExit(4, containing(`error: the token from standard input ${complaint}`));
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    await expectNothingSaved(server.url);
  });

  it.each([
    ["another server than a plant store", json(200, "{}"), "is not a plant store"],
    [
      "a server that accepts a plant without an id",
      json(200, '{"name":"fern"}'),
      "it accepted a plant without",
    ],
    ["a plant store at another path", errorResponse(40400), "error 40400"],
  ])("sends no token to %s", async (_what, response, problem) => {
    const server = await openScriptedServer(response);
    expect(await login(server.url, testToken)).toExit(7, containing(problem));
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    await expectNothingSaved(server.url);
  });

  it("reads no token if no server responds", async () => {
    const url = await findClosedUrl();
    const stdin = new PassThrough();
    const problem =
      /^error: cannot connect to .*\nnothing was saved\nStart a server, or check --url:\n {2}plantstore serve /;
    expect(await run(["login", "--url", url], { stdin })).toExit(6, problem);
    const typed = await run(["login", "--url", url], { terminals: allTerminals });
    expect(typed).toExit(6, /\nnothing was saved\n/);
  });

  it.each([
    [40102, 4],
    [40103, 4],
    [50300, 6],
    [50301, 6],
    [50700, 6],
    [1, 7],
    [42200, 7],
  ])("saves nothing after error %i, and exits with %i", async (error, exit) => {
    const server = await openScriptedServer(errorResponse(error));
    const result = await login(server.url, testToken);
    expect(result).toExit(exit, containing(`error ${error}: message of ${error}`));
    expect(result).toExit(exit, /\nnothing was saved(?:;|$)/m);
    await expectNothingSaved(server.url);
  });

  it.each<[condition: string, open: () => Promise<string>, message: RegExp, timeout?: string]>([
    [
      "the connection is lost",
      () => openRawServer((socket) => socket.destroy()),
      /^error: lost the connection .*: try again$/m,
    ],
    [
      "a proxy responds",
      async () => (await openScriptedServer(json(502, ""))).url,
      /^error: .* responded instead of the plant store \(status 502\): try again$/m,
    ],
    [
      "no response arrives",
      () => openRawServer(() => {}),
      /^error: no complete response from .*: try again; a higher --timeout waits longer$/m,
      "0.2",
    ],
  ])("saves nothing if %s, and exits with 6", async (_what, open, message, timeout = "20") => {
    const url = await open();
    const options = { env: { PLANTSTORE_TIMEOUT: timeout } };
    const result = await login(url, testToken, options);
    expect(result).toExit(6, message);
    expect(result.stderr).not.toContain("plant may");
    await expectNothingSaved(url);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("saves nothing if %s stops it during the wait for a token", async (signal, exit) => {
    const { url } = await openScriptedServer(errorResponse(40100));
    const stdin = new PassThrough();
    const terminals = { stderr: true };
    const waiting = startCli(["login", "--url", url], withDirectory({ stdin, terminals }));
    await waiting.saw("reading the token");
    expect(waiting.signal(signal)).toBe(true);
    const result = await waiting.finished;
    expect(result).toExit(exit, containing(`: stopped by ${signal}: nothing was saved\n`));
    await expectNothingSaved(url);
  });

  it("reports a broken credential file before it asks for a token", async () => {
    const url = "http://127.0.0.1:7526";
    const file = toTokenFile(directory, url);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, "{}", { mode: 0o600 });
    const stdin = new PassThrough();
    const problem = `error: ${file} is broken: it contains no saved token; fix it or delete it\n`;
    expect(await run(["login", "--url", url], { stdin })).toExit(2, problem);
    expect(await readFile(file, "utf8")).toBe("{}");
  });

  it("reads --token-file, also on a terminal where another token is saved", async () => {
    await using server = await startServer();
    await saveCredential(directory, { origin: server.url, token: mintToken() });
    const file = join(directory, "token");
    await writeFile(file, `${testToken}\n`);
    const args = ["login", "--url", server.url, "--token-file"];
    const { exitCode, stdout, stderr } = await run([...args, file], { terminals: allTerminals });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).not.toContain("Token for");
    expect(readSavedToken(directory, server.url)).toBe(testToken);
    expect(await run([...args, "-"], { stdin: "of-my-own" })).toMatchObject({ exitCode: 4 });
  });

  it.each([
    ["a missing file", "missing", "does not exist"],
    ["a token as the file", testToken, "--token-file must be the file that contains the token"],
  ])("saves nothing for %s, and exits with 2", async (_what, path, problem) => {
    const server = await openScriptedServer(errorResponse(40100));
    const result = await run(["login", "--url", server.url, "--token-file", path]);
    expect(result).toExit(2, containing(problem));
    await expectNothingSaved(server.url);
  });

  it.each([
    [["http://127.0.0.1:7526"], "error: select the server with --url\n"],
    [
      ["--token", testToken],
      "error: no '--token': type it when login asks for it, or pass --token-file",
    ],
  ])("rejects %j with advice", async (args, advice) => {
    expect(await run(["login", ...args])).toExit(2, containing(advice));
  });
});

describe("saved settings", () => {
  it.each(["", "[]", '{"login":1}', '{"login":"http'])(
    "that are broken (%j) are reported, and neither used nor overwritten",
    async (text) => {
      const file = toSettingsFile(directory);
      await writeFile(file, text);
      const result = await run(["create", "--id", "1", "--name", "fern"]);
      expect(result).toExit(2, containing(`error: ${file} is broken`));
      await expect(saveSettings(directory, {})).rejects.toThrow(`${file} is broken`);
      expect(await readFile(file, "utf8")).toBe(text);
    },
  );

  it("may have unknown members, which the next login removes", async () => {
    await using server = await startServer();
    const file = toSettingsFile(directory);
    const profiles = { prod: { url: "http://127.0.0.1:1" } };
    await writeFile(file, JSON.stringify({ login: server.url, profiles }));
    expect(await run(["ping"])).toMatchObject({ exitCode: 0 });
    expect(await login(server.url, testToken)).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ login: server.url });
  });

  it("without a valid URL are reported", async () => {
    await saveSettings(directory, { login: "plants.example" });
    const message = `error: the URL of the last login in ${toSettingsFile(directory)} must be a URL`;
    expect(await run(["create", "--id", "1", "--name", "fern"])).toExit(2, containing(message));
  });

  it("are not needed without a home directory", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_TOKEN: testToken };
    const args = ["create", "--id", "1", "--name", "fern", "--url", server.url];
    expect((await runCli(args, { env, home: "" })).exitCode).toBe(0);
  });
});

describe("logout", () => {
  it("removes the token for its URL, and the plant store is no longer the default", async () => {
    await saveCredential(directory, { origin: "https://plants.example", token: mintToken() });
    await saveCredential(directory, { origin: "https://other.example", token: testToken });
    await saveSettings(directory, { login: "https://plants.example/v1" });
    const message =
      "✓ removed the token for https://plants.example from this machine; it is valid until it expires or is revoked\n" +
      "the default server is now http://127.0.0.1:7526\n" +
      "tokens are still saved for https://other.example\nRemove one:\n  plantstore logout --url https://other.example\n";
    expect(await run(["logout"])).toExit(0, message);
    await expectNothingSaved("https://plants.example");
    expect(readSavedToken(directory, "https://other.example")).toBe(testToken);
  });

  it("of another plant store keeps the default", async () => {
    await saveCredential(directory, { origin: "https://other.example", token: testToken });
    await saveSettings(directory, { login: "https://plants.example/v1" });
    const { stderr } = await run(["logout", "--url", "https://other.example"]);
    expect(stderr).toMatch(/^✓ removed the token for [^\n]*\nno token is saved on this machine\n$/);
    expect(readSavedSettings(directory)).toEqual({ login: "https://plants.example/v1" });
  });

  it("a second time removes no token of another server, until the next login", async () => {
    await using server = await startServer();
    const local = "http://127.0.0.1:7526";
    await saveCredential(directory, { origin: local, token: mintToken() });
    await login(server.url, testToken);
    expect((await run(["logout"])).stderr).toContain(`removed the token for ${server.url}`);
    for (let round = 0; round < 2; round += 1) {
      const message = `✓ not logged in: nothing was removed\ntokens are still saved for ${local}\n`;
      expect(await run(["logout"])).toExit(0, containing(message));
    }
    expect(readSavedToken(directory, local)).toBeDefined();
    await login(server.url, testToken);
    expect((await run(["logout"])).stderr).toContain(`removed the token for ${server.url}`);
    expect((await run(["logout", "--url", local])).stderr).toContain("removed the token");
    expect(readSavedToken(directory, local)).toBeUndefined();
  });

  it("returns to the server that serve has saved", async () => {
    const serve = "http://127.0.0.1:8080/v1";
    await saveSettings(directory, { login: "https://plants.example/v1", serve });
    expect((await run(["logout"])).stderr).toContain(`\nthe default server is now ${serve}\n`);
    expect(readSavedSettings(directory)).toEqual({ serve });
  });

  it("removes the token for PLANTSTORE_URL, which stays the default", async () => {
    const origin = "https://plants.example";
    await saveCredential(directory, { origin, token: testToken });
    const { stderr } = await run(["logout"], { env: { PLANTSTORE_URL: origin } });
    expect(stderr).toContain(`removed the token for ${origin} `);
    expect(stderr).not.toContain("the default server is now");
  });

  it("reports that there is no login, and warns about variables that are still set", async () => {
    const message = `✓ not logged in: nothing was removed
no token is saved on this machine
warning: PLANTSTORE_TOKEN is still set
`;
    expect(await run(["logout"], { env: { PLANTSTORE_TOKEN: "x" } })).toExit(0, message);
  });

  it("also removes a file that is broken or that other users can read", async () => {
    const url = "http://127.0.0.1:7526";
    const file = toTokenFile(directory, url);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, "{");
    await chmod(file, 0o644);
    expect((await run(["logout", "--url", url])).stderr).toContain("removed the token");
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  it("changes nothing if the saved settings cannot be read", async () => {
    const url = "https://plants.example";
    await saveCredential(directory, { origin: url, token: testToken });
    execFileSync("mkfifo", [toSettingsFile(directory)]);
    const result = await run(["logout", "--url", url]);
    expect(result).toExit(2, /settings\.json cannot be read: it is not a regular file/);
    expect(readSavedToken(directory, url)).toBe(testToken);
  });
});
