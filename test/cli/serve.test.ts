/** `plantstore serve` as a function: what it says to a terminal and to a log, and how it starts and stops. */
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { mintToken } from "../../src/auth/token.ts";
import { readSavedToken, saveToken } from "../../src/cli/tokens/credentials.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { allTerminals, type CliOptions, runCli, startCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const configDirectory = (home: string): string => join(home, ".config/plantstore");

/** A server that stops with its test. */
async function startServe(home: string, args: readonly string[] = [], options: CliOptions = {}) {
  const run = startCli(["serve", "--port", "0", ...args], { home, ...options });
  const stop = async () => {
    run.signal("SIGTERM");
    return run.finished;
  };
  onTestFinished(async () => void (await stop()));
  await expect.poll(run.stdout).toMatch(/^http:.*\n$/);
  const url = run.stdout().trim();
  return { run, url, stop };
}

function create(home: string, url: string, env: Readonly<Record<string, string>> = {}) {
  return runCli(["create", "--id", "1", "--name", "fern", "--url", url], { home, env });
}

describe("on a terminal", () => {
  it("shows the issued token once, and how to create the first plant", async () => {
    const home = await createTemporaryDirectory();
    const { url, stop } = await startServe(home, [], { terminals: allTerminals });
    const { exitCode, stdout, stderr } = await stop();
    const token = readSavedToken(configDirectory(home), url);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${url}\n` });
    expect(stderr.split(token ?? "none").length).toBe(2);
    expect(stderr).toContain(`plantstore create --url ${url} --id 1 --name fern`);
  });

  it("shows it as a shell wants it, where the URL has brackets", async () => {
    const home = await createTemporaryDirectory();
    const flags = ["--host", "::1", "--store", "memory:"];
    const { url, stop } = await startServe(home, flags, { terminals: allTerminals });
    expect((await stop()).stderr).toContain(`create --url '${url}' --id 1 --name fern`);
  });

  it("does not show it again", async () => {
    const home = await createTemporaryDirectory();
    const first = await startServe(home);
    await first.stop();
    const second = await startServe(home, [], { terminals: allTerminals });
    const { stderr } = await second.stop();
    expect(stderr).not.toContain("pst_");
    expect(stderr).not.toContain("issued");
  });
});

it("--cors-origin may be given several times, and lets the pages of each", async () => {
  const origins = ["https://a.example", "http://b.example:81"];
  const flags = origins.flatMap((origin) => ["--cors-origin", origin]);
  const { url } = await startServe(await createTemporaryDirectory(), flags);
  for (const origin of origins) {
    const answer = await fetch(`${url}/openapi.json`, { headers: { origin } });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
  }
});

describe("in a log", () => {
  it("the token does not appear", async () => {
    const home = await createTemporaryDirectory();
    const { url, stop } = await startServe(home);
    const { stdout, stderr } = await stop();
    const token = readSavedToken(configDirectory(home), url);
    expect(token).toMatch(/^pst_/);
    expect(stdout + stderr).not.toContain("pst_");
    const messages = stderr.split("\n").map((line) => line && (JSON.parse(line) as object));
    const level = "info";
    const message = "A token was issued, and saved for this user";
    expect(messages).toContainEqual(expect.objectContaining({ level, message }));
  });

  it("each request is a line of JSON, without its token and its body", async () => {
    const home = await createTemporaryDirectory();
    const env = { PLANTSTORE_TOKEN: "chosen-secret" };
    const { url, stop } = await startServe(home, [], { env });
    await create(home, url, env);
    const { stderr } = await stop();
    const lines = stderr.split("\n").filter((line) => line.includes('"/plants"'));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: "info", method: "POST", path: "/plants", status: 200, bytes: 15 },
    ]);
    expect(stderr).not.toMatch(/chosen-secret|fern/);
  });

  it("--log-level error leaves only what is wrong, --log-format text what a person reads", async () => {
    const home = await createTemporaryDirectory();
    const quiet = await startServe(home, ["--log-level", "error"]);
    await create(home, quiet.url);
    expect((await quiet.stop()).stderr).toBe("");
    const readable = await startServe(home, ["--log-format", "text"]);
    await create(home, readable.url);
    expect((await readable.stop()).stderr).toMatch(
      /Z POST \/plants 200 [\d.]+ ms 15 bytes id \S+\n/,
    );
  });
});

describe("a new store", () => {
  it("takes the token that is saved for its address, and no other one is touched", async () => {
    const home = await createTemporaryDirectory();
    const first = await startServe(home, ["--store", "memory:"]);
    await first.stop();
    const token = mintToken();
    await saveToken(configDirectory(home), first.url, token);
    await saveToken(configDirectory(home), "https://plants.example.org", mintToken());
    const other = readSavedToken(configDirectory(home), "https://plants.example.org");

    const { port } = new URL(first.url);
    const run = startCli(["serve", "--port", port, "--store", "memory:"], { home });
    await run.saw(first.url);
    expect(await create(home, first.url)).toMatchObject({ exitCode: 0 });
    run.signal("SIGINT");
    await run.finished;
    expect(readSavedToken(configDirectory(home), first.url)).toBe(token);
    expect(readSavedToken(configDirectory(home), "https://plants.example.org")).toBe(other);
  });

  it("can't be started when its token can't be saved, and then has none", async () => {
    const home = await createTemporaryDirectory();
    await writeFile(join(home, "file"), "");
    const env = { PLANTSTORE_CONFIG_DIR: join(home, "file") };
    const { exitCode, stdout, stderr } = await runCli(["serve", "--port", "0"], { home, env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: [^\n]*PLANTSTORE_CONFIG_DIR\n$/);

    const { url } = await startServe(home);
    expect(await create(home, url)).toMatchObject({ exitCode: 0 });
  });
});

describe("a store that has tokens", () => {
  it("issues no more of them, and says to whoever has none what to do", async () => {
    const home = await createTemporaryDirectory();
    const store = `sqlite:${join(home, "plants.db")}`;
    const first = await startServe(home, ["--store", store]);
    await first.stop();
    const elsewhere = await createTemporaryDirectory();
    const second = await startServe(elsewhere, ["--store", store]);
    await second.run.saw("No token of this store is saved");
    expect(second.run.stderr()).toContain("`plantstore token issue`");
    expect(await create(elsewhere, second.url)).toMatchObject({ exitCode: 4 });
  });

  it("leaves a token of another store that is saved for its address as it is", async () => {
    const home = await createTemporaryDirectory();
    const first = await startServe(home);
    await first.stop();
    const { port } = new URL(first.url);
    const foreign = mintToken();
    await saveToken(configDirectory(home), first.url, foreign);
    const run = startCli(["serve", "--port", port], { home });
    await run.saw(first.url);
    run.signal("SIGTERM");
    expect((await run.finished).stderr).toMatch(/No token of this store is saved/);
    expect(readSavedToken(configDirectory(home), first.url)).toBe(foreign);
  });

  it("passes over a saved token of another address that can't be read", async () => {
    const home = await createTemporaryDirectory();
    const first = await startServe(home);
    await first.stop();
    await writeFile(join(configDirectory(home), "credentials", "https%3A%2F%2Fa.json"), "{");
    const { url } = await startServe(home);
    expect(await create(home, url)).toMatchObject({ exitCode: 0 });
  });
});

describe("PLANTSTORE_TOKEN", () => {
  it("is accepted beside the issued token", async () => {
    const home = await createTemporaryDirectory();
    const env = { PLANTSTORE_TOKEN: "chosen" };
    const { url } = await startServe(home, [], { env });
    expect(await create(home, url, env)).toMatchObject({ exitCode: 0 });
    expect(await create(home, url)).toMatchObject({ exitCode: 0 });
    expect(await create(home, url, { PLANTSTORE_TOKEN: "other" })).toMatchObject({ exitCode: 4 });
  });

  it("suffices where no other one can be saved", async () => {
    const home = await createTemporaryDirectory();
    await writeFile(join(home, "file"), "");
    const env = { PLANTSTORE_TOKEN: "chosen", PLANTSTORE_CONFIG_DIR: join(home, "file") };
    const { url } = await startServe(home, [], { env });
    expect(await create(home, url, env)).toMatchObject({ exitCode: 0 });
  });

  it("is not stored", async () => {
    const home = await createTemporaryDirectory();
    const { stop } = await startServe(home, [], { env: { PLANTSTORE_TOKEN: "chosen-secret" } });
    const { stdout, stderr } = await stop();
    expect(stdout + stderr).not.toContain("chosen-secret");
    const files = (await readdir(home, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect(await readFile(file, "latin1")).not.toContain("chosen-secret");
  });
});

it("a closed stderr does not keep it from serving", async () => {
  const home = await createTemporaryDirectory();
  const run = startCli(["serve", "--port", "0", "--store", "memory:"], { home });
  run.closeStderr();
  await run.saw("http://127.0.0.1:");
  run.signal("SIGTERM");
  expect(await run.finished).toMatchObject({ exitCode: 0 });
});

it("a signal while it starts stops it", async () => {
  const home = await createTemporaryDirectory();
  const run = startCli(["serve", "--port", "0", "--store", "memory:"], { home });
  await expect.poll(() => run.signal("SIGINT")).toBe(true);
  expect(await run.finished).toMatchObject({ exitCode: 0 });
});

it.each([
  ["--host 0.0.0.0", "0.0.0.0", "http://127.0.0.1:"],
  ["--host ::1", "::1", "http://[::1]:"],
  ["--host localhost", "localhost", "http://localhost:"],
])("%s is announced as an address that can be reached", async (_what, host, start) => {
  const home = await createTemporaryDirectory();
  const run = startCli(["serve", "--host", host, "--port", "0", "--store", "memory:"], { home });
  await run.saw(start);
  const url = run.stdout().trim();
  expect(await create(home, url)).toMatchObject({ exitCode: 0, stdout: '{"name":"fern"}\n' });
  run.signal("SIGTERM");
  await run.finished;
});

describe("where others could listen", () => {
  it.each([
    ["--host", "0.0.0.0"],
    ["--host", "::"],
  ])("%s %s is served with a warning that tokens are not encrypted", async (...args) => {
    const home = await createTemporaryDirectory();
    const { run } = await startServe(home, [...args, "--store", "memory:"]);
    await run.saw("tokens arrive at");
    expect(run.stderr()).toContain('"level":"warn","message":"tokens arrive at');
  });

  it("there is none on this machine itself", async () => {
    const home = await createTemporaryDirectory();
    const { stop } = await startServe(home, ["--host", "::1", "--store", "memory:"]);
    expect((await stop()).stderr).not.toContain("unencrypted");
  });
});

describe("--tls-cert and --tls-key", () => {
  async function writeCertificate(home: string, name = "localhost") {
    const { cert, key } = createCertificate(name);
    await writeFile(join(home, "cert.pem"), cert);
    await writeFile(join(home, "key.pem"), key);
    await writeFile(join(home, "other.pem"), createCertificate(name).key);
    const password = { cipher: "aes256", passphrase: "secret" };
    const encrypted = createPrivateKey(key).export({ type: "pkcs8", format: "pem", ...password });
    await writeFile(join(home, "encrypted.pem"), encrypted);
    return ["--tls-cert", join(home, "cert.pem"), "--tls-key", join(home, "key.pem")];
  }

  it("make it https, and SIGHUP reads them anew", async () => {
    const home = await createTemporaryDirectory();
    const args = await writeCertificate(home);
    const run = startCli(["serve", "--port", "0", "--store", "memory:", ...args], { home });
    await run.saw("https://127.0.0.1:");
    await writeCertificate(home, "elsewhere");
    run.hangUp();
    await run.saw("SIGHUP: the certificate was reloaded");
    const { port } = new URL(run.stdout().trim());
    const client = connect({ port: Number(port), rejectUnauthorized: false });
    await once(client, "secureConnect");
    expect(client.getPeerCertificate().subject.CN).toBe("elsewhere");
    client.destroy();

    await writeFile(join(home, "key.pem"), "");
    run.hangUp();
    await run.saw('"level":"error","message":"SIGHUP: ');
    run.signal("SIGTERM");
    expect(await run.finished).toMatchObject({ exitCode: 0 });
  });

  it.each<[what: string, toArgs: (args: readonly string[]) => readonly string[], message: RegExp]>([
    ["one without the other", (args) => args.slice(0, 2), /belong together/],
    ["on a Unix socket", (args) => [...args, "--socket", "plants.sock"], /--socket stays/],
    [
      "a file that is not there",
      ([a = "", ...rest]) => [a, "/nonexistent", ...rest.slice(1)],
      /can't be read: ENOENT/,
    ],
    [
      "a key of another certificate",
      ([a = "", b = "", c = ""]) => [a, b, c, b.replace("cert.pem", "other.pem")],
      /the key in \S+other\.pem is not that of \S+cert\.pem\n/,
    ],
    [
      "a key in place of a certificate",
      ([a = "", , ...rest]) => [a, rest[1] ?? "", ...rest],
      /key\.pem holds no certificate in PEM: no start line\n/,
    ],
    [
      "a certificate in place of a key",
      ([a = "", b = "", c = ""]) => [a, b, c, b],
      /cert\.pem holds no private key in PEM: /,
    ],
    [
      "a key with a password",
      ([a = "", b = "", c = ""]) => [a, b, c, b.replace("cert.pem", "encrypted.pem")],
      /encrypted\.pem is encrypted: "openssl pkey" writes it without a password\n/,
    ],
  ])("%s is wrong usage", async (_what, toArgs, message) => {
    const home = await createTemporaryDirectory();
    const args = toArgs(await writeCertificate(home));
    const { exitCode, stderr } = await runCli(["serve", "--store", "memory:", ...args], { home });
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(message) as string,
    });
  });
});

describe("--socket", () => {
  it.each(["--port", "--host"])("is in place of %s, and refused beside it", async (flag) => {
    const argv = ["serve", "--socket", "plants.sock", flag, "1", "--store", "memory:"];
    const { exitCode, stderr } = await startCli(argv).finished;
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `error: --socket is in place of ${flag}: leave one of them out\n`,
    });
  });

  it("is announced by its path, and needs no token that is saved for an address", async () => {
    const home = await createTemporaryDirectory();
    const path = join(home, "plants.sock");
    const run = startCli(["serve", "--socket", path, "--store", "memory:"], { home });
    await run.saw(`unix:${path}\n`);
    run.signal("SIGTERM");
    expect(await run.finished).toMatchObject({ exitCode: 0, stdout: `unix:${path}\n` });
    expect(existsSync(configDirectory(home))).toBe(false);
  });

  it("with a store in memory says where its token is to come from, unless there is one", async () => {
    const home = await createTemporaryDirectory();
    const says = async (env: Record<string, string>): Promise<string> => {
      const argv = ["serve", "--socket", join(home, "plants.sock"), "--store", "memory:"];
      const run = startCli(argv, { home, env });
      await run.saw("unix:");
      run.signal("SIGTERM");
      return (await run.finished).stderr;
    };
    expect(await says({})).toMatch(
      /"level":"warn".*no token lets anybody in: start it with one in PLANTSTORE_TOKEN/,
    );
    expect(await says({ PLANTSTORE_TOKEN: "of-their-own" })).not.toContain("no token");
  });

  it("says what is in its place", async () => {
    const home = await createTemporaryDirectory();
    await writeFile(join(home, "file"), "");
    const args = ["serve", "--socket", join(home, "file"), "--store", "memory:"];
    const { exitCode, stderr } = await runCli(args, { home });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/is in its place/) as string,
    });
  });
});

describe("a SIGHUP", () => {
  it("is ignored by a server without a certificate", async () => {
    const home = await createTemporaryDirectory();
    const { run, url } = await startServe(home);
    run.hangUp();
    await run.saw("SIGHUP ignored: the server has no certificate");
    expect(await create(home, url)).toMatchObject({ exitCode: 0 });
  });

  it("stops a server whose terminal is gone", async () => {
    const home = await createTemporaryDirectory();
    const { run } = await startServe(home, [], { terminals: allTerminals });
    run.hangUp();
    expect(await run.finished).toMatchObject({ exitCode: 0 });
  });
});

it("what nobody caught is told with its stack, and it goes on serving", async () => {
  const home = await createTemporaryDirectory();
  const { run, url } = await startServe(home);
  run.throwUncaught(new TypeError("x is not a function"));
  await run.saw("unexpected: TypeError: x is not a function\\n    at ");
  expect(await create(home, url)).toMatchObject({ exitCode: 0 });
});

describe("--metrics", () => {
  it("main: counts requests and commits on the main address", async () => {
    const home = await createTemporaryDirectory();
    const { url } = await startServe(home, ["--metrics", "main"]);
    await create(home, url);
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain('plantstore_plants_total{result="created"} 1\n');
    expect(text).toContain("plantstore_commit_plants_count 1\n");
    expect(text).toContain("plantstore_connections 1\n");
  });

  it("HOST:PORT: has them there alone", async () => {
    const home = await createTemporaryDirectory();
    const { run, url } = await startServe(home, ["--metrics", "127.0.0.1:0"]);
    await run.saw("Metrics are at ");
    const own = /Metrics are at ([^"]+)/.exec(run.stderr())?.[1] ?? "";
    expect((await fetch(own)).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
  });

  it.each<[where: string, place: (url: URL) => string, message: RegExp]>([
    [
      "a port that is in use",
      ({ host }) => host,
      /port \d+ of 127\.0\.0\.1 is in use: .*choose another with --metrics/,
    ],
    [
      "an address of another machine",
      () => "192.0.2.1:0",
      /192\.0\.2\.1 is no address .*choose another with --metrics/,
    ],
  ])("at %s is an error that names it, and the flag to change", async (_where, place, message) => {
    const home = await createTemporaryDirectory();
    const { url } = await startServe(home);
    const args = ["serve", "--port", "0", "--store", "memory:", "--metrics", place(new URL(url))];
    const { exitCode, stderr } = await runCli(args, { home });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/--(?:port|host)\b/);
  });
});
