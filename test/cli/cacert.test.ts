/** `--cacert`: the authorities that commands and the library trust. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createClient } from "../../src/index.ts";
import { createCertificate } from "../helpers/certificate.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const certificate = createCertificate("localhost");
const startTlsServer = () => startServer({ host: "localhost", certificate });

let directory: string;
let cacert: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  cacert = join(directory, "ca.pem");
  await writeFile(cacert, certificate.cert);
});

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = "") {
  const all = {
    PLANTSTORE_CONFIG_DIR: join(directory, "config"),
    PLANTSTORE_TOKEN: testToken,
    ...env,
  };
  return runCli(args, { env: all, stdin });
}

const readSettings = async () =>
  JSON.parse(await readFile(join(directory, "config/settings.json"), "utf8")) as unknown;

describe("--cacert", () => {
  it.each<[command: string, args: readonly string[], exitCode: number]>([
    ["create", ["create", "--id", "1", "--name", "fern"], 0],
    ["a bulk create", ["create", "--many", "-"], 0],
    ["ping", ["ping"], 0],
    ["status", ["status"], 0],
    ["doctor", ["doctor", "--store", "memory:"], 0],
  ])("is trusted by %s, which fails without it", async (_command, args, exitCode) => {
    await using server = await startTlsServer();
    const env = { PLANTSTORE_URL: server.url };
    const plants = '{"id":2,"name":"moss"}\n{"id":3,"name":"oak"}\n';
    const trusted = await run([...args, "--cacert", cacert], env, plants);
    expect(trusted).toMatchObject({ exitCode });
    const untrusted = await run(args, env, plants);
    expect(untrusted.exitCode).toBe(6);
    expect(untrusted.stderr + untrusted.stdout).toContain(
      "is not signed by a trusted authority (DEPTH_ZERO_SELF_SIGNED_CERT): add its authority with --cacert FILE or NODE_EXTRA_CA_CERTS=FILE",
    );
    expect(untrusted.stderr).not.toContain("--wait");
  });

  it("ends ping --wait at once without it, since waiting does not cure that", async () => {
    await using server = await startTlsServer();
    const { exitCode, stderr } = await run(["ping", "--wait", "1h", "--url", server.url]);
    expect(exitCode).toBe(6);
    expect(stderr).not.toContain(" after ");
  });

  it("does not help with a certificate for another host, whose names the error lists", async () => {
    const other = createCertificate(["plants.example.org", "*.example.net"]);
    await using server = await startServer({ host: "localhost", certificate: other });
    await writeFile(cacert, other.cert);
    const target = ["--url", server.url, "--cacert", cacert];
    for (const args of [
      ["create", "--id", "1", "--name", "fern"],
      ["create", "--many", "-"],
      ["ping", "--wait", "1h"],
    ]) {
      const { exitCode, stderr } = await run([...args, ...target], {}, '{"id":1,"name":"fern"}');
      expect(exitCode).toBe(6);
      expect(stderr).toContain(
        "its certificate is for plants.example.org and *.example.net, not for localhost: use one of these names in --url",
      );
    }
  });

  it.each(["--insecure", "-k"])("is what %s of other programs becomes", async (flag) => {
    const { exitCode, stderr } = await run(["ping", flag]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`unknown option '${flag}' (Did you mean --cacert?)`);
  });

  it("comes from PLANTSTORE_CACERT too, and an empty flag restores the authorities of Node", async () => {
    await using server = await startTlsServer();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_CACERT: cacert };
    expect(await run(["ping"], env)).toMatchObject({ exitCode: 0 });
    expect(await run(["ping", "--cacert="], env)).toMatchObject({ exitCode: 6 });
  });

  it("replaces the authorities of Node: another certificate is not trusted", async () => {
    await using server = await startTlsServer();
    await writeFile(cacert, createCertificate("localhost").cert);
    const { exitCode, stderr } = await run(["ping", "--url", server.url, "--cacert", cacert]);
    expect(exitCode).toBe(6);
    expect(stderr).toMatch(
      /its certificate is not signed by one of the given authorities \(\w+\): add its authority to them\n/,
    );
  });

  it("is saved at login with its absolute path, for this origin only", async () => {
    await using server = await startTlsServer();
    await using other = await startTlsServer();
    const login = ["login", "--url", `${server.url}/`, "--cacert", cacert];
    const env = { PLANTSTORE_TOKEN: "" };
    expect(await run(login, env, testToken)).toMatchObject({ exitCode: 0 });
    expect(await readSettings()).toEqual({ url: server.url, cacert });
    expect(await run(["status"], env)).toMatchObject({ exitCode: 0 });
    expect(await run(["ping", "--url", other.url], env)).toMatchObject({ exitCode: 6 });
    const { stdout } = await run(["status", "--json"], env);
    expect(stdout).toContain(`"--cacert","variable":"PLANTSTORE_CACERT","value":"${cacert}"`);
    expect(await run(["logout"], env)).toMatchObject({ exitCode: 0 });
    expect(await readSettings()).toEqual({});
  });

  it.each<[what: string, content: string | undefined, problem: RegExp]>([
    ["a missing file", undefined, /cannot be read \(the path does not exist\)/],
    ["an empty file", "", /are unusable: the file has no certificate in PEM/],
    ["a key", certificate.key, /are unusable: the file has no certificate in PEM/],
    [
      "a damaged certificate",
      certificate.cert + certificate.cert.replace(/\n.{20}/, "\nAAAAAAAAAAAAAAAAAAAA"),
      /are unusable: the file has an invalid certificate \(number 2\)/,
    ],
  ])("rejects %s", async (_what, content, problem) => {
    const path = join(directory, "other.pem");
    if (content !== undefined) await writeFile(path, content);
    for (const args of [
      ["create", "--id", "1", "--name", "fern"],
      ["ping"],
      ["status"],
      ["login"],
    ]) {
      const { exitCode, stdout, stderr } = await run([...args, "--cacert", path], {}, testToken);
      expect(exitCode).toBe(2);
      const isReport = args[0] === "status";
      const message = isReport ? stdout : stderr;
      expect(message).toMatch(problem);
      expect(message).toContain(
        `${isReport ? "Reachable  no" : "error"}: the certificates in ${path} `,
      );
      expect(message).toContain("choose another file with --cacert");
    }
  });
});

describe("the option ca of a client of the library", () => {
  it("holds the certificates of trusted authorities", async () => {
    await using server = await startTlsServer();
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
