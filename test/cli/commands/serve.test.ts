/** `plantstore serve` as a function: its start and stop, its banner and its log. */
import { execFileSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { connect } from "node:tls";
import { beforeEach, describe, expect, it } from "vitest";
import { mintToken } from "../../../src/auth/authenticator.ts";
import { readSavedSettings, toSettingsFile } from "../../../src/cli/config/saved-settings.ts";
import { findClosedUrl, openRawServer } from "../../client/scripted-server.ts";
import {
  listSavedOrigins,
  readSavedToken,
  saveCredential,
  toTokenFile,
} from "../../helpers/credentials.ts";
import { createCertificate } from "../../helpers/certificate.ts";
import {
  allTerminals,
  type CliOptions,
  containing,
  runCli,
  startCli,
  startServe,
} from "../../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

let home: string;
let configDirectory: string;
beforeEach(async () => {
  home = await createTemporaryDirectory();
  configDirectory = join(home, ".config/plantstore");
});

function serve(args: readonly string[] = [], options: CliOptions = {}) {
  return startServe(args, { home, ...options });
}

/** Starts `serve`, and stops it at once. */
async function serveOnce(args: readonly string[] = [], options: CliOptions = {}) {
  const { url, stop } = await serve(args, options);
  return { url, ...(await stop()) };
}

function create(url: string, env: Readonly<Record<string, string>> = {}) {
  return runCli(["create", "--id", "1", "--name", "fern", "--url", url], { home, env });
}

describe("on a terminal", () => {
  it("shows the issued token, the link with it, and how to create the first plant", async () => {
    const { url, exitCode, stdout, stderr } = await serveOnce([], { terminals: allTerminals });
    const token = readSavedToken(configDirectory, url);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${url}\n` });
    // Alone, and in the link that opens the page.
    expect(stderr.split(token ?? "none").length).toBe(3);
    expect(stderr).toContain(`${url}/#${token}\n`);
    // The first start has made it the default URL.
    expect(stderr).toContain(" plantstore create --id 1 --name fern\n");
  });

  it("quotes a URL with brackets for the shell", async () => {
    const flags = ["--host", "::1", "--store", "memory:"];
    const { url, stderr } = await serveOnce(flags, { terminals: allTerminals });
    expect(stderr).toContain(`create --url '${url}' --id 1 --name fern`);
  });

  it("has a banner, whose link to the page fits a line", async () => {
    const { url, stderr } = await serveOnce(["--no-color"], { terminals: allTerminals });
    const lines = stderr.split("\n");
    expect(lines[0]).toMatch(/^plantstore \S+ is ready$/);
    const labels = lines.flatMap((line) => /^ {2}([A-Z]\w+)(?: |$)/.exec(line)?.[1] ?? []);
    expect(labels).toEqual(["Store", "Token", "Try", "Page", "Stop", "URL"]);
    // A link that the terminal breaks is hard to open.
    expect(lines.find((line) => line.includes("/#"))?.length).toBeLessThanOrEqual(80);
    expect(stderr).not.toContain(`URL    ${url}`); // It is on stdout, which continues this row.
  });

  it("has the URL in the banner too if stdout is not a terminal", async () => {
    const { url, stdout, stderr } = await serveOnce(["--no-color"], {
      terminals: { stderr: true },
    });
    expect(stdout).toBe(`${url}\n`);
    expect(stderr).toContain(`\n  URL    ${url}\n`);
  });

  it("says how to issue a token if none of the store is saved", async () => {
    const store = `sqlite:${join(home, "plants.db")}`;
    await serveOnce(["--store", store]);
    const elsewhere = { home: await createTemporaryDirectory(), terminals: allTerminals };
    const { url, stderr } = await serveOnce(["--store", store], elsewhere);
    const command = `plantstore token issue --store ${store} | plantstore login --url ${url}`;
    expect(stderr).toContain(`\n  ${command}\n`);
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ["80 columns", { NO_COLOR: "1" }, /\d\d:\d\d:\d\d 200 POST \/plants created \d+\.\d ms\n/],
    [
      "colours",
      { FORCE_COLOR: "1" },
      /<\[2m\d\d:\d\d:\d\d<\[22m <\[32m200<\[39m POST \/plants created /,
    ],
  ])("has a log as text: %s", async (_what, env, line) => {
    const { url, stop } = await serve([], { terminals: allTerminals, env });
    await create(url);
    const other = ["create", "--id", "1", "--name", "moss", "--url", url];
    expect(await runCli(other, { home })).toMatchObject({ exitCode: 5 });
    const { stderr } = await stop();
    expect(stderr.replaceAll("\u001b", "<")).toMatch(line);
    expect(stderr).toMatch(/400\S* POST \/plants rejected 40900 /);
  });

  it.each(["--ephemeral", "--demo"])("has lines of at most 80 columns with %s", async (flag) => {
    const { stderr } = await serveOnce([flag, "--no-color"], { terminals: allTerminals });
    expect(stderr).toContain("\n  export PLANTSTORE_TOKEN=pst_");
    expect(stderr.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("shows the token only when it is issued", async () => {
    await serveOnce();
    const { stderr } = await serveOnce([], { terminals: allTerminals });
    expect(stderr).not.toContain("pst_");
    expect(stderr).not.toContain("issued");
  });
});

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
    const token = readSavedToken(configDirectory, url);
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
    await create(url, env);
    const { stderr } = await stop();
    const lines = stderr.split("\n").filter((line) => line.includes('"/plants"'));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: "info", method: "POST", path: "/plants", status: 200, bytes: 15 },
    ]);
    expect(stderr).not.toMatch(/chosen-secret|fern/);
  });

  it("has only errors with --log-level error, and lines of text with --log-format text", async () => {
    const quiet = await serve(["--log-level", "error"]);
    await create(quiet.url);
    expect((await quiet.stop()).stderr).toBe("");
    const readable = await serve(["--log-format", "text", "--port", new URL(quiet.url).port]);
    await create(readable.url);
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
    expect(await runCli(["serve", ...toArgs(url)], { home })).toExit(1, containing(toMessage(url)));
    expect(await readdir(home)).toEqual([]);
  });

  it("by another program, reports a wrong path of the store first", async () => {
    const { port } = new URL(await openRawServer((socket) => void socket.end()));
    const store = `sqlite:${home}/missing/plants.db`;
    const problem = `error: the directory ${home}/missing does not exist: create it, or mount its disk\n`;
    expect(await runCli(["serve", "--port", port, "--store", store])).toExit(2, problem);
  });

  it("by another program, reports the port", async () => {
    const { port } = new URL(await openRawServer((socket) => void socket.end()));
    const problem = `error: port ${port} on 127.0.0.1 is already in use: stop the other process, or choose another with --host or --port\n`;
    expect(await runCli(["serve", "--port", port])).toExit(1, problem);
  });
});

it("frees its port when the store cannot be opened", async () => {
  const { url } = await serveOnce();
  const { port } = new URL(url);
  const failed = await runCli(["serve", "--port", port, "--store", "sqlite:."], { home });
  expect(failed).toMatchObject({ exitCode: 2, stdout: "" });
  expect(await serveOnce(["--port", port])).toMatchObject({ exitCode: 0, url });
});

describe("a new store", () => {
  it("accepts the token that is saved for its address, and changes no other one", async () => {
    const url = await findClosedUrl();
    const token = mintToken();
    await saveCredential(configDirectory, { origin: url, token });
    const other = { origin: "https://plants.example.org", token: mintToken() };
    await saveCredential(configDirectory, other);

    const run = await serve(["--port", new URL(url).port, "--store", "memory:"]);
    expect(await create(url)).toMatchObject({ exitCode: 0 });
    run.signal("SIGINT");
    await run.finished;
    expect(readSavedToken(configDirectory, url)).toBe(token);
    expect(readSavedToken(configDirectory, other.origin)).toBe(other.token);
  });

  it("does not start if its token cannot be saved, and then has no token", async () => {
    await writeFile(join(home, "file"), "");
    const env = { PLANTSTORE_CONFIG_DIR: join(home, "file") };
    const { port } = new URL(await findClosedUrl());
    const result = await runCli(["serve", "--port", port], { home, env });
    expect(result).toExit(2, /^error: the token cannot be saved [^\n]*PLANTSTORE_CONFIG_DIR\n$/);

    const { url } = await serve();
    expect(await create(url)).toMatchObject({ exitCode: 0 });
  });
});

describe("the first server", () => {
  const serveAt = async (url: string, ...args: readonly string[]) => {
    expect(await serveOnce(["--port", new URL(url).port, ...args])).toMatchObject({ exitCode: 0 });
  };
  const serveLater = async () =>
    serveAt(await findClosedUrl(), "--store", `sqlite:${home}/other.db`);

  it("becomes the default with its base path, and a later one does not", async () => {
    const url = await findClosedUrl();
    await serveAt(url, "--base-path", "/v1");
    const saved = { serve: `${url}/v1` };
    expect(readSavedSettings(configDirectory)).toEqual(saved);
    await serveLater();
    expect(readSavedSettings(configDirectory)).toEqual(saved);
    await serve(["--port", new URL(url).port, "--base-path", "/v1"]);
    const created = await runCli(["create", "--id", "1", "--name", "fern"], { home });
    expect(created).toMatchObject({ exitCode: 0 });
  });

  it("does not become the default at any free port, or with a store in memory", async () => {
    await serveOnce(["--port", "0"]);
    await serve(["--store", "memory:"], { terminals: { stderr: true } });
    expect(existsSync(toSettingsFile(configDirectory))).toBe(false);
  });

  it("does not become the default after a server at the built-in URL", async () => {
    const origin = "http://127.0.0.1:7526";
    await saveCredential(configDirectory, { origin, token: mintToken() });
    await serveAt(await findClosedUrl());
    expect(existsSync(toSettingsFile(configDirectory))).toBe(false);
  });
});

describe("a store that has tokens", () => {
  it("issues no further token, and says how to issue one", async () => {
    const store = `sqlite:${join(home, "plants.db")}`;
    await serveOnce(["--store", store]);
    home = await createTemporaryDirectory();
    const second = await serve(["--store", store]);
    await second.saw("none of this store is saved");
    const advice = `Log in:\\n  plantstore token issue --store ${store} | plantstore login --url ${second.url}"`;
    expect(second.stderr()).toContain(advice);
    expect(await create(second.url)).toMatchObject({ exitCode: 4 });
  });

  it("keeps a token of another store that is saved for its address", async () => {
    const first = await serveOnce();
    const foreign = mintToken();
    await saveCredential(configDirectory, { origin: first.url, token: foreign });
    const { stderr } = await serveOnce(["--port", new URL(first.url).port]);
    expect(stderr).toMatch(/none of this store is saved/);
    expect(readSavedToken(configDirectory, first.url)).toBe(foreign);
  });
});

describe("PLANTSTORE_TOKEN", () => {
  it("is accepted in addition to a token that was issued before", async () => {
    const first = await serveOnce();
    const issued = readSavedToken(configDirectory, first.url) ?? "";
    const env = { PLANTSTORE_TOKEN: "chosen" };
    const { url } = await serve([], { env });
    expect(await create(url, env)).toMatchObject({ exitCode: 0 });
    expect(await create(url, { PLANTSTORE_TOKEN: issued })).toMatchObject({ exitCode: 0 });
    expect(await create(url, { PLANTSTORE_TOKEN: "other" })).toMatchObject({ exitCode: 4 });
  });

  it("prevents that a new store issues and saves another token", async () => {
    const env = { PLANTSTORE_TOKEN: "chosen" };
    const { stop } = await serve([], { env, terminals: allTerminals });
    expect(existsSync(configDirectory)).toBe(false);
    const { stderr } = await stop();
    expect(stderr).not.toMatch(/pst_|issued/);
    const next = await serve();
    expect(await create(next.url, env)).toMatchObject({ exitCode: 4 });
    expect(await create(next.url)).toMatchObject({ exitCode: 0 });
  });

  it("is enough if no token can be saved", async () => {
    await writeFile(join(home, "file"), "");
    const env = { PLANTSTORE_TOKEN: "chosen", PLANTSTORE_CONFIG_DIR: join(home, "file") };
    const { url } = await serve([], { env });
    expect(await create(url, env)).toMatchObject({ exitCode: 0 });
  });

  it("is not stored", async () => {
    const { stdout, stderr } = await serveOnce([], { env: { PLANTSTORE_TOKEN: "chosen-secret" } });
    expect(stdout + stderr).not.toContain("chosen-secret");
    const files = (await readdir(home, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files).toContain(join(home, ".local/share/plantstore/plants.db"));
    for (const file of files) expect(await readFile(file, "latin1")).not.toContain("chosen-secret");
  });
});

it.each([
  ["a memory: store", ["--store", "memory:"]],
  ["a store at any free port", ["--port", "0"]],
  ["--ephemeral", ["--ephemeral"]],
])("%s issues a token that is not saved, and is in the command to type next", async (_, args) => {
  const { url, stderr } = await serve(args, { terminals: allTerminals });
  await expect.poll(stderr).toContain("Stop");
  expect(existsSync(configDirectory)).toBe(false);
  const [, token = ""] =
    /export PLANTSTORE_TOKEN=(pst_\w{49})\n +plantstore create --url \S+ --id/.exec(stderr()) ?? [];
  expect(await create(url)).toMatchObject({ exitCode: 4 });
  expect(await create(url, { PLANTSTORE_TOKEN: token })).toMatchObject({ exitCode: 0 });
});

it("a store at any free port gets no token that nobody would see, and says how to issue one", async () => {
  const path = join(home, "other.db");
  const flags = ["--port", "0", "--store", `sqlite:${path}`];
  const { stderr, url } = await serveOnce(flags);
  const login = `plantstore token issue --store sqlite:${path} | plantstore login --url ${url}`;
  expect(stderr).toContain(
    `none of this store is saved for this user and URL. Log in:\\n  ${login}"`,
  );
  const listed = await runCli(["token", "list", "--store", `sqlite:${path}`]);
  expect(listed).toPrint("");
  expect((await serveOnce([...flags, "--json"])).stdout).toMatch(/"token":"pst_/);
});

it.each([["--ephemeral"], ["--demo"], ["--store", "memory:"]])(
  "%s %s: does not start if nobody would know its token",
  async (...args) => {
    const problem =
      "error: no client would know the token of this store in memory: set PLANTSTORE_TOKEN, or use --json\n";
    const result = await runCli(["serve", "--port", "0", ...args], { home });
    expect(result).toExit(2, containing(problem));
    expect(await readdir(home)).toEqual([]);
  },
);

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
    expect(await readdir(home)).toEqual([]);
  });

  it("--json prints the URL and the token, which works", async () => {
    const run = await serve(["--ephemeral", "--json"]);
    const started = JSON.parse(run.stdout()) as { url: string; token: string };
    expect(run.stdout()).toBe(`${JSON.stringify(started)}\n`);
    expect(Object.keys(started)).toEqual(["url", "token"]);
    const { url, token } = started;
    expect(await create(url, { PLANTSTORE_TOKEN: token })).toMatchObject({ exitCode: 0 });
    expect(await readdir(home)).toEqual([]);
  });

  it("accepts the token in PLANTSTORE_TOKEN, which --json does not print", async () => {
    const env = { PLANTSTORE_TOKEN: "a-chosen-token-1" };
    const run = await serve(["--ephemeral", "--json"], { env });
    const { url, ...others } = JSON.parse(run.stdout()) as { url: string };
    expect(others).toEqual({});
    expect(await create(url, env)).toMatchObject({ exitCode: 0 });
  });

  it("allows another port", async () => {
    const { url } = await serve([]);
    const { port } = new URL(url);
    const problem = `a plant store already runs at ${url}: use it`;
    expect(await runCli(["serve", "--ephemeral", "--port", port])).toExit(1, containing(problem));
  });

  it("rejects --store", async () => {
    expect(await runCli(["serve", "--ephemeral", "--store", "memory:"])).toExit(
      2,
      /^error: option '--ephemeral' cannot be used with option '--store <url>'\n/,
    );
  });
});

it("--json prints the token that was issued now, and none that was saved before", async () => {
  const first = await serveOnce(["--json"]);
  const { url, token } = JSON.parse(first.stdout) as { url: string; token: string };
  expect(readSavedToken(configDirectory, url)).toBe(token);
  const { stdout } = await serveOnce(["--json"]);
  expect(Object.keys(JSON.parse(stdout) as object)).toEqual(["url"]);
});

it("serves even if stderr is closed", async () => {
  const run = startCli(["serve", "--port", "0"], { home });
  run.closeStderr();
  await run.saw("http://127.0.0.1:");
  expect(await run.stop()).toMatchObject({ exitCode: 0 });
});

it("stops on a signal that arrives while it starts", async () => {
  const run = startCli(["serve", "--port", "0"], { home });
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
  expect(await create(url)).toMatchObject({ exitCode: 0, stdout: '{"name":"fern"}\n' });
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
    const data = join(home, ".local/share/plantstore");
    await chmod(join(data, "plants.db"), 0o644);
    await chmod(data, 0o755);
    await chmod(configDirectory, 0o777);
    const { stderr } = await serveOnce();
    const warnings = stderr.match(/"level":"warn","message":"[^"\\]*/g)?.join("\n");
    expect(warnings).toContain(`${data}/plants.db can be read by other users (mode 644)`);
    expect(warnings).toContain(`${data} can be read by other users (mode 755)`);
    expect(warnings).toContain(
      `${configDirectory} can be read and changed by other users (mode 777)`,
    );
  });

  it("is warned about, and does not stop the server: the saved token", async () => {
    const args = ["--port", new URL(await findClosedUrl()).port];
    const { url } = await serveOnce(args);
    const file = toTokenFile(configDirectory, url);
    await chmod(file, 0o660);
    const run = await serve(args);
    await run.saw("the one that is saved for this user");
    expect(await create(url)).toMatchObject({ exitCode: 2 });
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
    await rm(join(home, ".local/share/plantstore/plants.db-wal"));
    const args = ["create", "--url", url, "--retry", "0", "--id", "1", "--name", "a"];
    expect((await runCli(args, { home })).stdout).toContain('{"error":50700,');
    const ready = await fetch(new URL("/readyz", url));
    expect(await ready.json()).toMatchObject({ error: 50_700 });
    expect((await stop()).stderr).toMatch(
      /"level":"error","message":"store: the store \S+ lost its log/,
    );
  });
});

describe("--tls-cert and --tls-key", () => {
  async function writeCertificate(name = "localhost", endMs?: number) {
    const { cert, key } = createCertificate(name, endMs);
    await writeFile(join(home, "cert.pem"), cert);
    await writeFile(join(home, "key.pem"), key);
    await writeFile(join(home, "other.pem"), createCertificate(name).key);
    const password = { cipher: "aes256", passphrase: "secret" };
    const encrypted = createPrivateKey(key).export({ type: "pkcs8", format: "pem", ...password });
    await writeFile(join(home, "encrypted.pem"), encrypted);
    return ["--tls-cert", join(home, "cert.pem"), "--tls-key", join(home, "key.pem")];
  }

  it("serve HTTPS, and SIGHUP reloads both files", async () => {
    const run = await serve(await writeCertificate());
    await writeCertificate("elsewhere");
    run.hangUp();
    await run.saw("SIGHUP: the certificate was reloaded");
    const { port, protocol } = new URL(run.url);
    expect(protocol).toBe("https:");
    const client = connect({ port: Number(port), rejectUnauthorized: false });
    await once(client, "secureConnect");
    expect(client.getPeerCertificate().subject.CN).toBe("elsewhere");
    client.destroy();

    await writeFile(join(home, "key.pem"), "");
    run.hangUp();
    await run.saw('"level":"error","message":"SIGHUP: ');
    await run.saw("; the old certificate stays in use");

    // A read of a pipe would never end, and would block the exit.
    await rm(join(home, "key.pem"));
    execFileSync("mkfifo", [join(home, "key.pem")]);
    run.hangUp();
    await run.saw("key.pem cannot be read: it is not a regular file; the old certificate stays");
    expect(await run.stop()).toMatchObject({ exitCode: 0 });
  });

  const inDays = (days: number): number => Date.now() + days * 24 * 60 * 60 * 1000;

  it.each<[days: number, verb: string]>([
    [-1, "expired on DATE, and clients reject it: renew it"],
    [13, "expires on DATE: renew it"],
  ])("warn about a certificate that ends in %d days, at start and SIGHUP", async (days, text) => {
    const endMs = inDays(days);
    const args = await writeCertificate("localhost", endMs);
    const date = new Date(endMs).toISOString().slice(0, 10);
    const warning = `the certificate in ${join(home, "cert.pem")} ${text.replace("DATE", date)}`;
    const run = await serve(args);
    await run.saw(`"level":"warn","message":"${warning}"`);
    run.hangUp();
    await run.saw("SIGHUP: the certificate was reloaded");
    const { stderr } = await run.stop();
    expect(stderr.split(warning)).toHaveLength(3);

    const shown = await serveOnce([...args, "--no-color"], { terminals: allTerminals });
    expect(shown.stderr.replaceAll("\n", " ")).toContain(`warning: ${warning} `);
  });

  it.each<[what: string, toArgs: (args: readonly string[]) => readonly string[], message: RegExp]>([
    ["one without the other", (args) => args.slice(0, 2), /must be set together/],
    [
      "on a Unix socket",
      (args) => [...args, "--socket", "plants.sock"],
      /--socket does not support TLS/,
    ],
    [
      "a missing file",
      ([a = "", ...rest]) => [a, "/nonexistent", ...rest.slice(1)],
      /^error: --tls-cert: \/nonexistent does not exist\n$/m,
    ],
    [
      "a key of another certificate",
      ([a = "", b = "", c = ""]) => [a, b, c, b.replace("cert.pem", "other.pem")],
      /the key in \S+other\.pem does not match the first certificate in \S+cert\.pem: /,
    ],
    [
      "a key instead of a certificate",
      ([a = "", , ...rest]) => [a, rest[1] ?? "", ...rest],
      /key\.pem contains no certificate in PEM: no start line\n/,
    ],
    [
      "a certificate instead of a key",
      ([a = "", b = "", c = ""]) => [a, b, c, b],
      /cert\.pem contains no private key in PEM: /,
    ],
    [
      "a key with a password",
      ([a = "", b = "", c = ""]) => [a, b, c, b.replace("cert.pem", "encrypted.pem")],
      /encrypted\.pem is encrypted: "openssl pkey" writes it without a password\n/,
    ],
  ])("reject %s", async (_what, toArgs, message) => {
    const args = toArgs(await writeCertificate());
    expect(await runCli(["serve", "--store", "memory:", ...args], { home })).toExit(2, message);
  });
});

describe("--socket", () => {
  it.each([
    ["-p", "-p, --port"],
    ["--host", "--host"],
  ])("excludes %s", async (flag, shown) => {
    const argv = ["serve", "--socket", "plants.sock", flag, "1", "--store", "memory:"];
    const problem = `error: option '--socket <path>' cannot be used with option '${shown} <`;
    expect(await startCli(argv).finished).toExit(2, containing(problem));
  });

  it.each(["", "/v1"])("saves its token for its path, with base path %j", async (basePath) => {
    const path = join(home, "plants.sock");
    const url = `unix:${path}${basePath && `:${basePath}`}`;
    const env = { PLANTSTORE_BASE_PATH: basePath };
    const run = await serve(["--socket", path], { env });
    expect(await listSavedOrigins(configDirectory)).toEqual([`unix:${path}`]);
    expect(await create(url)).toMatchObject({ exitCode: 0 });
    const { stdout, stderr } = await run.stop();
    expect(stdout).toBe(`${url}\n`);
    expect(stderr).toContain("Token: new, saved for this user");
  });

  it.each(["plants:1.sock", "a:/plants.sock"])("saves no token without a URL: %j", async (name) => {
    const path = join(home, name);
    await mkdir(dirname(path), { recursive: true });
    expect(await serveOnce(["--socket", path])).toMatchObject({ url: `unix:${path}`, exitCode: 0 });
    expect(existsSync(configDirectory)).toBe(false);
  });

  it("reports another file at its path", async () => {
    await writeFile(join(home, "file"), "");
    const args = ["serve", "--socket", join(home, "file"), "--store", "memory:"];
    expect(await runCli(args, { home })).toExit(
      1,
      /file is already in use: stop the other process, or choose another with --socket/,
    );
  });
});

describe("LISTEN_FDS, for a socket that was passed to this process,", () => {
  // The process id of a command that startCli runs.
  const env = { LISTEN_PID: "4711", LISTEN_FDS: "1" };

  it.each([
    ["--port", "0"],
    ["--host", "127.0.0.1"],
    ["--socket", "plants.sock"],
  ])("excludes %s", async (flag, value) => {
    const problem = `error: the socket in LISTEN_FDS replaces ${flag}: remove ${flag}\nSee "plantstore serve --help"\n`;
    expect(await runCli(["serve", flag, value], { env })).toExit(2, problem);
  });

  it.each(["2", "many"])("is one socket, not %s", async (count) => {
    expect(await runCli(["serve"], { env: { ...env, LISTEN_FDS: count } })).toExit(
      2,
      `error: expected one socket but LISTEN_FDS is "${count}": keep one Listen… line in the socket unit\n`,
    );
  });

  it.each<[what: string, env: Readonly<Record<string, string>>]>([
    ["for another process", { ...env, LISTEN_PID: "4712" }],
    ["without LISTEN_PID", { LISTEN_FDS: "1" }],
    ["without a socket", { ...env, LISTEN_FDS: "0" }],
  ])("is ignored %s", async (_what, variables) => {
    const result = await serveOnce(["--port", "0"], { env: variables });
    expect(result).toMatchObject({ url: containing("http://127.0.0.1:"), exitCode: 0 });
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
  expect(await create(run.url)).toMatchObject({ exitCode: 0 });
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
    await create(url);
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
    const result = await runCli(["serve", ...args], { home });
    expect(result).toExit(1, message);
    expect(result.stderr).not.toMatch(/--(?:port|host)\b/);
  });
});

it("does not start under Bun, whose node:http differs", async () => {
  const problem = "error: serve does not run under Bun: run it with Node.js, without --bun\n";
  const args = ["serve", "--store", "memory:"];
  expect(await runCli(args, { bunVersion: "1.4.5" })).toExit(1, problem);
});

it("says what the directory of a Unix socket must be", async () => {
  const path = join(home, "missing", "plants.sock");
  const problem = `not permitted to listen on ${path}: choose `;
  expect(await runCli(["serve", "--socket", path], { home })).toExit(1, containing(problem));
});
