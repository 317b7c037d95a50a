/** `--cacert`: the authorities that commands and the library trust. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as credentials from "../../src/cli/config/saved-tokens.ts";
import { createClient } from "../../src/index.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { startServer, type TestServer, testToken } from "../helpers/plant-server.ts";
import { allTerminals, containing, runCli } from "../helpers/run-cli.ts";
import { runBinary } from "../helpers/run-binary.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const certificate = createCertificate("localhost");
const startTlsServer = () => startServer({ host: "localhost", certificate });

let server: TestServer;
let directory: string;
let cacert: string;
beforeEach(async () => {
  server = await startTlsServer();
  directory = await createTemporaryDirectory();
  cacert = join(directory, "ca.pem");
  await writeFile(cacert, certificate.cert);
});
afterEach(() => server.close());

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = "") {
  const all = {
    PLANTSTORE_CONFIG_DIR: join(directory, "config"),
    PLANTSTORE_TOKEN: testToken,
    ...env,
  };
  return runCli(args, { env: all, stdin });
}

describe("--cacert", () => {
  it.each(["create --id 1 --name fern", "create --json -", "ping", "status"])(
    "is trusted by %s, which fails without it",
    async (words) => {
      const args = words.split(" ");
      const env = { PLANTSTORE_URL: server.url };
      const plants = '{"id":2,"name":"moss"}\n{"id":3,"name":"oak"}\n';
      const trusted = await run([...args, "--cacert", cacert], env, plants);
      expect(trusted).toMatchObject({ exitCode: 0 });
      const untrusted = await run(args, env, plants);
      expect(untrusted.exitCode).toBe(7);
      expect(untrusted.stderr + untrusted.stdout).toContain(
        "is not signed by a trusted authority (DEPTH_ZERO_SELF_SIGNED_CERT): add its authority with --cacert FILE or NODE_EXTRA_CA_CERTS=FILE",
      );
    },
  );

  it("ends ping --wait at once without it, since waiting does not cure that", async () => {
    const { exitCode, stderr } = await run(["ping", "--wait", "1h", "--url", server.url]);
    expect(exitCode).toBe(7);
    expect(stderr).not.toContain("waited");
  });

  it("does not help with a certificate for another host, whose names the error lists", async () => {
    const other = createCertificate(["plants.example.org", "*.example.net"]);
    await using foreign = await startServer({ host: "localhost", certificate: other });
    await writeFile(cacert, other.cert);
    const target = ["--url", foreign.url, "--cacert", cacert];
    for (const args of [
      ["create", "--id", "1", "--name", "fern"],
      ["create", "--json", "-"],
      ["ping", "--wait", "1h"],
    ]) {
      const { exitCode, stderr } = await run([...args, ...target], {}, '{"id":1,"name":"fern"}');
      expect(exitCode).toBe(7);
      expect(stderr).toContain(
        "its certificate is for DNS:plants.example.org, DNS:*.example.net, not for localhost: use a name of the certificate in the URL",
      );
    }
  });

  it("comes from PLANTSTORE_CACERT too, and an empty flag restores the authorities of Node", async () => {
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_CACERT: cacert };
    expect(await run(["ping"], env)).toMatchObject({ exitCode: 0 });
    expect(await run(["ping", "--cacert="], env)).toMatchObject({ exitCode: 7 });
  });

  it("replaces the authorities of Node: another certificate is not trusted", async () => {
    await writeFile(cacert, createCertificate("localhost").cert);
    const problem =
      /its certificate is not signed by one of the given authorities \(\w+\): add its authority with --cacert FILE\n/;
    expect(await run(["ping", "--url", server.url, "--cacert", cacert])).toExit(7, problem);
  });

  it.each<[what: string, content: string | undefined, problem: RegExp]>([
    ["a missing file", undefined, / does not exist/],
    ["a file that is too long", "-".repeat(4_194_305), / has more than 4194304 bytes/],
    ["an empty file", "", / has no certificate in PEM/],
    ["a key", certificate.key, / has no certificate in PEM/],
    [
      "a damaged certificate",
      certificate.cert + certificate.cert.replace(/\n.{20}/, "\nAAAAAAAAAAAAAAAAAAAA"),
      / has an invalid certificate \(number 2\)/,
    ],
  ])("rejects %s", async (_what, content, problem) => {
    const path = join(directory, "other.pem");
    if (content !== undefined) await writeFile(path, content);
    for (const args of [
      ["create", "--id", "1", "--name", "fern"],
      ["ping"],
      ["status"],
      ["login", "--url", "https://127.0.0.1:7526"],
    ]) {
      const { exitCode, stdout, stderr } = await run([...args, "--cacert", path], {}, testToken);
      expect(exitCode).toBe(2);
      const isReport = args[0] === "status";
      const message = isReport ? stdout : stderr;
      expect(message).toMatch(problem);
      expect(message).toContain(`the file of certificates ${path} `);
    }
  });

  it("takes - for the name of a file, and not for standard input", async () => {
    const result = await run(["ping", "--cacert", "-"], {}, certificate.cert);
    expect(result).toExit(2, /the file of certificates - does not exist/);
  });
});

describe("the certificates of a login", () => {
  const withoutToken = { PLANTSTORE_TOKEN: "" };
  const config = (): string => join(directory, "config");
  const readCredential = (url: string) => credentials.readCredential(config(), url, process);

  async function login(url: string, args: readonly string[] = [], env = {}) {
    const all = ["login", "--url", url, ...args];
    const result = await run(all, { ...withoutToken, ...env }, testToken);
    expect(result).toMatchObject({ exitCode: 0 });
  }

  /** Runs a command that succeeds only with the certificate. */
  async function ping(url: string) {
    const { exitCode } = await run(["ping", "--url", url]);
    return exitCode;
  }

  it("are saved with the token: a moved file and another login change nothing", async () => {
    await using other = await startTlsServer();
    await using plain = await startServer({ certificate: undefined });
    await login(`${server.url}/`, ["--cacert", cacert]);
    const { cert } = certificate;
    expect(readCredential(server.url)).toEqual({ origin: server.url, token: testToken, ca: cert });
    await rename(cacert, `${cacert}.old`);
    await login(plain.url);
    const single = ["create", "--id", "1", "--name", "a", "--url", server.url];
    expect(await run(single)).toMatchObject({ exitCode: 0 });
    const bulk = ["create", "--json", "-", "--url", server.url];
    expect(await run(bulk, withoutToken, '{"id":2,"name":"b"}')).toMatchObject({ exitCode: 0 });
    expect(await run(["status", "--url", server.url])).toMatchObject({ exitCode: 0 });
    expect(await ping(server.url)).toBe(0);
    expect(await ping(other.url)).toBe(7);
    expect(await run(["ping", "--url", server.url, "--cacert="])).toMatchObject({ exitCode: 7 });
  });

  it("are kept by a login without --cacert, and replaced by one with it", async () => {
    await login(server.url, ["--cacert", cacert]);
    await login(server.url);
    expect(readCredential(server.url)?.ca).toBe(certificate.cert);
    const both = certificate.cert + createCertificate("localhost").cert;
    await writeFile(cacert, both);
    await login(server.url, [], { PLANTSTORE_CACERT: cacert });
    expect(readCredential(server.url)?.ca).toBe(both);
  });

  it("are saved with a token that is used again on a terminal", async () => {
    const token = { origin: server.url, token: testToken };
    await credentials.saveToken(config(), token, process);
    const args = ["login", "--url", server.url, "--cacert", cacert];
    const env = { PLANTSTORE_CONFIG_DIR: config() };
    expect(await runCli(args, { env, terminals: allTerminals })).toMatchObject({ exitCode: 0 });
    expect(readCredential(server.url)).toEqual({ ...token, ca: certificate.cert });
  });

  it("are removed by a login with an empty --cacert, once Node trusts the server", async () => {
    await login(server.url, ["--cacert", cacert]);
    const args = ["login", "--url", server.url, "--cacert="];
    expect(await run(args, withoutToken, testToken)).toMatchObject({ exitCode: 7 });
    expect(readCredential(server.url)?.ca).toBe(certificate.cert);
    const env = { PLANTSTORE_CONFIG_DIR: config(), NODE_EXTRA_CA_CERTS: cacert };
    const trusted = await runBinary(args, { home: directory, env, stdin: testToken });
    expect(trusted).toMatchObject({ code: 0 });
    expect(readCredential(server.url)).toEqual({ origin: server.url, token: testToken });
  });

  it("are trusted no longer once they are damaged", async () => {
    await login(server.url, ["--cacert", cacert]);
    const file = credentials.toTokenFile(config(), server.url);
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("BEGIN CERTIFICATE-----\\n", "$&x"));
    const result = await run(["status"], withoutToken);
    expect(result).toExit(7, "", containing("is not signed by one of the given authorities"));
  });

  it("are removed with the token of their origin", async () => {
    await login(server.url, ["--cacert", cacert]);
    expect(await run(["logout"], withoutToken)).toMatchObject({ exitCode: 0 });
    expect(readCredential(server.url)).toBeUndefined();
    expect(await ping(server.url)).toBe(7);
  });

  it("are a usage error for http as a flag; the variable is not saved then", async () => {
    await using plain = await startServer({ certificate: undefined });
    const args = ["login", "--url", plain.url];
    expect(await run([...args, "--cacert", cacert], withoutToken, testToken)).toExit(
      2,
      containing(`error: --cacert is for https, and the URL is ${plain.url}: remove --cacert\n`),
    );
    expect(readCredential(plain.url)).toBeUndefined();
    await login(plain.url, [], { PLANTSTORE_CACERT: cacert });
    expect(readCredential(plain.url)).toEqual({ origin: plain.url, token: testToken });
  });

  it("are not those of a path in older settings", async () => {
    await mkdir(config());
    await writeFile(join(config(), "settings.json"), JSON.stringify({ login: server.url, cacert }));
    expect(await ping(server.url)).toBe(7);
  });
});

describe("the option ca of a client of the library", () => {
  it("holds the certificates of trusted authorities", async () => {
    const options = { url: server.url, token: testToken, retries: 0 };
    const client = createClient({ ...options, ca: certificate.cert });
    expect(await client.create({ id: 1n, name: "fern" })).toMatchObject({ ok: true });
    const results = [];
    for await (const result of client.createMany([{ id: 2n, name: "moss" }])) results.push(result);
    expect(results).toMatchObject([{ status: "created" }]);
    const strict = createClient({ ...options, ca: createCertificate("localhost").cert });
    await expect(strict.create({ id: 1n, name: "fern" })).rejects.toMatchObject({
      reason: "insecure",
    });
  });

  it.each([
    [5, "ca must be a string with certificates in PEM (got 5)"],
    ["x", "ca has no certificate in PEM"],
  ])("rejects %j", (ca, problem) => {
    const options = { url: "https://plants.example.org", token: testToken, ca: ca as string };
    expect(() => createClient(options)).toThrow(problem);
  });
});
