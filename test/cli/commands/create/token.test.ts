import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { mintToken } from "../../../../src/auth/authenticator.ts";
import { saveCredential, toTokenFile } from "../../../helpers/credentials.ts";
import {
  errorResponse,
  findClosedUrl,
  json,
  openScriptedServer,
  type ScriptedServer,
} from "../../../client/scripted-server.ts";
import { type CliOptions, containing, runCli, startCli } from "../../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

const fern = ["create", "--id", "1", "--name", "fern"];

let server: ScriptedServer;
let directory: string;
beforeEach(async () => {
  server = await openScriptedServer(errorResponse(40102));
  directory = await createTemporaryDirectory();
});

function withServer({ env, ...options }: CliOptions = {}): CliOptions {
  return {
    ...options,
    env: { PLANTSTORE_URL: server.url, PLANTSTORE_CONFIG_DIR: directory, ...env },
  };
}

function create(args: readonly string[], options?: CliOptions) {
  return runCli([...fern, ...args], withServer(options));
}

const sentRequests = () => server.requests.map(({ method, path }) => `${method} ${path}`);
const sentCredentials = () => server.requests.map(({ headers }) => headers.authorization);

async function writeToken(name: string, text: string | Uint8Array): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

describe("the token is read", () => {
  it("from --token-file first, then PLANTSTORE_TOKEN, PLANTSTORE_TOKEN_FILE and the saved token", async () => {
    const flagFile = await writeToken("flag", "of-the-flag");
    const variableFile = await writeToken("variable", "of-the-variable-file");
    await saveCredential(directory, { origin: server.url, token: "saved" });
    const saved = toTokenFile(directory, server.url);
    const env = { PLANTSTORE_TOKEN: "of-the-variable", PLANTSTORE_TOKEN_FILE: variableFile };
    const { PLANTSTORE_TOKEN: _, ...withoutToken } = env;

    const inFile = `the file ${variableFile} in PLANTSTORE_TOKEN_FILE`;
    const empty = { PLANTSTORE_TOKEN: "", PLANTSTORE_TOKEN_FILE: "" };
    for (const [args, variables, token, source] of [
      [["--token-file", flagFile], env, "of-the-flag", `the file ${flagFile}`],
      [[], env, "of-the-variable", "PLANTSTORE_TOKEN"],
      [[], withoutToken, "of-the-variable-file", inFile],
      [[], empty, "saved", saved],
    ] as const) {
      const { stderr } = await create(args, { env: variables });
      expect(sentCredentials().at(-1)).toBe(`Bearer ${token}`);
      // Each rejection names the source.
      expect(stderr).toMatch(new RegExp(`\\(the token came from ${source}\\)\\n`));
    }
  });

  it("from stdin with --token-file -", async () => {
    const { stderr } = await create(["--token-file", "-"], { stdin: "piped\n" });
    expect(sentCredentials()).toEqual(["Bearer piped"]);
    expect(stderr).toContain("(the token came from standard input)");
  });

  it("from a terminal with --token-file -, after a message", async () => {
    const options = { stdin: "typed\n", terminals: { stdin: true } };
    const { stderr } = await create(["--token-file", "-"], options);
    expect(stderr).toMatch(/^reading the token from the terminal: end with Ctrl-D\n/);
    expect(sentCredentials()).toEqual(["Bearer typed"]);
  });

  it.each(["token", "token\n", "token\r\n"])("from a file that contains %j", async (text) => {
    await create(["--token-file", await writeToken("token", text)]);
    expect(sentCredentials()).toEqual(["Bearer token"]);
  });

  it("from the file of the origin, whatever the path of the URL is", async () => {
    await saveCredential(directory, { origin: server.url, token: "saved" });
    await create(["--url", `${server.url}/v1/`]);
    expect(sentCredentials()).toEqual(["Bearer saved"]);
  });
});

describe("without a token", () => {
  it("create exits with 4, names the URL, the known origins and the next step, and sends no plant", async () => {
    await saveCredential(directory, { origin: "http://127.0.0.1:1", token: "a" });
    await saveCredential(directory, { origin: "https://plants.example", token: "b" });
    const problem = `error: no token for ${server.url} (saved: http://127.0.0.1:1, https://plants.example)\nLog in, or set PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE:\n  plantstore login\n`;
    expect(await create([])).toExit(4, problem);
    expect(sentRequests()).toEqual(["GET /readyz"]);
  });

  it.each([
    [
      "a server that saved none for this user",
      true,
      /\nLog in with the token that the server printed when it started, or set .*:\n {2}plantstore login --url /,
    ],
    [
      "a server with a store",
      false,
      /\nLog in as the owner of its store, .*:\n {2}plantstore token issue \| plantstore login --url /,
    ],
  ])("create says where the token of %s is", async (_what, isVolatile, advice) => {
    const body = `{"status":"ready"${isVolatile ? ',"store":"memory"' : ""}}`;
    const { url } = await openScriptedServer(json(200, body));
    const result = await create(["--url", url]);
    expect(result).toExit(4, advice);
    expect(result.stderr).toContain(` --url ${url}\n`);
  });

  it.each([
    ["address", () => findClosedUrl()],
    ["socket", () => Promise.resolve(`unix:${join(directory, "missing.sock")}`)],
  ])("and without a server at an %s of this machine create exits with 6", async (_what, toUrl) => {
    const url = await toUrl();
    const problem = `error: cannot connect to ${url}: `;
    expect(await create(["--url", url])).toExit(6, containing(problem));
  });

  it("create sends nothing to another machine", async () => {
    const result = await create(["--url", "http://plants.invalid"]);
    expect(result).toExit(4, containing("  plantstore login --url http://plants.invalid\n"));
  });

  it("create rejects an invalid plant first", async () => {
    const { exitCode } = await runCli(["create", "--id", "x", "--name", "fern"], withServer());
    expect(exitCode).toBe(3);
  });
});

describe("an invalid token", () => {
  const minted = mintToken();
  it.each([
    ["is empty", "\n", "is empty"],
    ["contains a space", "two words", "contains a space: copy it again"],
    ["has two lines", "first\nsecond\n", "is on several lines: write it on one line"],
    ["has two lines with CRLF", "first\r\nsecond\r\n", "is on several lines"],
    ["has two line breaks at its end", "token\n\n", "begins or ends with white space: remove it"],
    ["begins with a space", " token", "begins or ends with white space"],
    ["ends with a space", "token \n", "begins or ends with white space"],
    ["ends with CR", "token\r", "ends with a carriage return (CR): remove it, or write"],
    ["ends with CR CR LF", "token\r\r\n", "ends with a carriage return (CR)"],
    ["is in quotes", '"token"\n', "is in quotes: remove them"],
    ["is in single quotes", "'token'\r\n", "is in quotes"],
    ["is in typographic quotes", "“token”", "is in quotes"],
    ["contains a character beyond ASCII", "tokén", "contains an invalid character"],
    ["is not text", Uint8Array.of(0xff, 0xff), "contains an invalid character"],
    ["is truncated", minted.slice(0, -1), "is incomplete or mistyped"],
    [
      "has a typing error",
      minted.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
      "is incomplete or mistyped",
    ],
  ])("that %s is rejected without a request, and is not shown", async (_what, text, reason) => {
    const path = await writeToken("token", text);
    const result = await create(["--token-file", path]);
    expect(result).toExit(4, containing(`error: the token from the file ${path} ${reason}`));
    expect(result.stderr.replaceAll(path, "")).not.toMatch(/two words|first|tok[eé]n\w|pst_\w{4}/);
    expect(server.requests).toEqual([]);
  });

  it("that is in UTF-16 is rejected with the encoding that it needs", async () => {
    const path = await writeToken("token", Buffer.from(`\uFEFF${mintToken()}\r\n`, "utf16le"));
    const result = await create(["--token-file", path]);
    expect(result).toExit(4, `error: the file ${path} is UTF-16: a token is plain text in UTF-8\n`);
    expect(server.requests).toEqual([]);
  });

  it("may be PLANTSTORE_TOKEN with a line break at its end, which is ignored", async () => {
    await create([], { env: { PLANTSTORE_TOKEN: "of-my-own\n" } });
    expect(sentCredentials()).toEqual(["Bearer of-my-own"]);
  });

  it("in PLANTSTORE_TOKEN is reported with this name", async () => {
    const result = await create([], { env: { PLANTSTORE_TOKEN: "a\r\nX-Header: b" } });
    expect(result).toExit(4, /^error: the token from PLANTSTORE_TOKEN is on several lines/);
    expect(result.stderr).not.toContain("X-Header");
  });
});

describe("a token that cannot be read", () => {
  it.each([
    [["--token-file", "/nonexistent/token"], {}, ""],
    [[], { PLANTSTORE_TOKEN_FILE: "/nonexistent/token" }, " in PLANTSTORE_TOKEN_FILE"],
  ])("with %j and %j exits with 2", async (args, env, source) => {
    const result = await create(args, { env });
    expect(result).toExit(2, `error: the file /nonexistent/token${source} does not exist\n`);
  });

  it("because other users can read its file exits with 2", async () => {
    const file = toTokenFile(directory, server.url);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify({ origin: server.url, token: "a" }), { mode: 0o644 });
    expect(await create([])).toExit(2, containing(`Prevent that:\n  chmod 600 ${file}\n`));
  });

  it("because its file never ends exits with 2", async () => {
    const endless = new PassThrough();
    const run = startCli([...fern, "--token-file", "-"], withServer({ stdin: endless }));
    endless.write(Buffer.alloc(70_000, "a"));
    expect(await run.finished).toExit(2, "error: standard input has more than 65536 bytes\n");
  });
});

it.each([
  ["a plant", ["--id", "1", "--name", "fern"], "{}"],
  ["a file", ["--json"], '{"id":1,"name":"fern"}\n'],
])("a rejected saved token: create of %s shows the login once", async (_, args, stdin) => {
  const { url } = await openScriptedServer(errorResponse(40102));
  await saveCredential(directory, { origin: url, token: "saved" });
  const { exitCode, stderr } = await runCli(["create", ...args, "--url", url], {
    env: { PLANTSTORE_CONFIG_DIR: directory },
    stdin,
  });
  expect(exitCode).toBe(4);
  expect(stderr).toContain(`\nReplace the token:\n  plantstore login --url ${url}\n`);
  expect(stderr.match(/replace the token/gi)).toHaveLength(1);
});
