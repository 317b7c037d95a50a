/** Which token `plantstore serve` accepts, issues and saves, and which server becomes the default. */
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mintToken } from "../../../../src/auth/authenticator.ts";
import { readSavedSettings, toSettingsFile } from "../../../../src/cli/config/saved-settings.ts";
import { findClosedUrl } from "../../../client/scripted-server.ts";
import { readSavedToken, saveCredential } from "../../../helpers/credentials.ts";
import { allTerminals, containing, runCli } from "../../../helpers/run-cli.ts";
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

describe("a new store", () => {
  it("accepts the token that is saved for its address, and changes no other one", async () => {
    const url = await findClosedUrl();
    const token = mintToken();
    await saveCredential(configPath(), { origin: url, token });
    const other = { origin: "https://plants.example.org", token: mintToken() };
    await saveCredential(configPath(), other);

    const run = await serve(["--port", new URL(url).port, "--store", "memory:"]);
    expect(await createFern(url)).toMatchObject({ exitCode: 0 });
    run.signal("SIGINT");
    await run.finished;
    expect(readSavedToken(configPath(), url)).toBe(token);
    expect(readSavedToken(configPath(), other.origin)).toBe(other.token);
  });

  it("does not start if its token cannot be saved, and then has no token", async () => {
    await writeFile(inHome("file"), "");
    const env = { PLANTSTORE_CONFIG_DIR: inHome("file") };
    const { port } = new URL(await findClosedUrl());
    const result = await failToServe(["--port", port], { env });
    expect(result).toExit(2, /^error: the token cannot be saved [^\n]*PLANTSTORE_CONFIG_DIR\n$/);

    const { url } = await serve();
    expect(await createFern(url)).toMatchObject({ exitCode: 0 });
  });
});

describe("the first server", () => {
  const serveAt = async (url: string, ...args: readonly string[]) => {
    expect(await serveOnce(["--port", new URL(url).port, ...args])).toMatchObject({ exitCode: 0 });
  };
  const serveLater = async () =>
    serveAt(await findClosedUrl(), "--store", `sqlite:${inHome()}/other.db`);

  it("becomes the default with its base path, and a later one does not", async () => {
    const url = await findClosedUrl();
    await serveAt(url, "--base-path", "/v1");
    const saved = { serve: `${url}/v1` };
    expect(readSavedSettings(configPath())).toEqual(saved);
    await serveLater();
    expect(readSavedSettings(configPath())).toEqual(saved);
    await serve(["--port", new URL(url).port, "--base-path", "/v1"]);
    const created = await runCli(["create", "--id", "1", "--name", "fern"], { home: inHome() });
    expect(created).toMatchObject({ exitCode: 0 });
  });

  it("does not become the default at any free port, or with a store in memory", async () => {
    await serveOnce(["--port", "0"]);
    await serve(["--store", "memory:"], { terminals: { stderr: true } });
    expect(existsSync(toSettingsFile(configPath()))).toBe(false);
  });

  it("does not become the default after a server at the built-in URL", async () => {
    const origin = "http://127.0.0.1:7526";
    await saveCredential(configPath(), { origin, token: mintToken() });
    await serveAt(await findClosedUrl());
    expect(existsSync(toSettingsFile(configPath()))).toBe(false);
  });
});

describe("a store that has tokens", () => {
  it("issues no further token, and says how to issue one", async () => {
    const store = `sqlite:${inHome("plants.db")}`;
    await serveOnce(["--store", store]);
    const second = await serve(["--store", store], { home: await createTemporaryDirectory() });
    await second.saw("none of this store is saved");
    const advice = `Log in:\\n  plantstore token issue --store ${store} | plantstore login --url ${second.url}"`;
    expect(second.stderr()).toContain(advice);
    expect(await createFern(second.url)).toMatchObject({ exitCode: 4 });
  });

  it("keeps a token of another store that is saved for its address", async () => {
    const first = await serveOnce();
    const foreign = mintToken();
    await saveCredential(configPath(), { origin: first.url, token: foreign });
    const { stderr } = await serveOnce(["--port", new URL(first.url).port]);
    expect(stderr).toMatch(/none of this store is saved/);
    expect(readSavedToken(configPath(), first.url)).toBe(foreign);
  });
});

describe("PLANTSTORE_TOKEN", () => {
  it("is accepted in addition to a token that was issued before", async () => {
    const first = await serveOnce();
    const issued = readSavedToken(configPath(), first.url) ?? "";
    const env = { PLANTSTORE_TOKEN: "chosen" };
    const { url } = await serve([], { env });
    expect(await createFern(url, env)).toMatchObject({ exitCode: 0 });
    expect(await createFern(url, { PLANTSTORE_TOKEN: issued })).toMatchObject({ exitCode: 0 });
    expect(await createFern(url, { PLANTSTORE_TOKEN: "other" })).toMatchObject({ exitCode: 4 });
  });

  it("prevents that a new store issues and saves another token", async () => {
    const env = { PLANTSTORE_TOKEN: "chosen" };
    const { stop } = await serve([], { env, terminals: allTerminals });
    expect(existsSync(configPath())).toBe(false);
    const { stderr } = await stop();
    expect(stderr).not.toMatch(/pst_|issued/);
    const next = await serve();
    expect(await createFern(next.url, env)).toMatchObject({ exitCode: 4 });
    expect(await createFern(next.url)).toMatchObject({ exitCode: 0 });
  });

  it("is enough if no token can be saved", async () => {
    await writeFile(inHome("file"), "");
    const env = { PLANTSTORE_TOKEN: "chosen", PLANTSTORE_CONFIG_DIR: inHome("file") };
    const { url } = await serve([], { env });
    expect(await createFern(url, env)).toMatchObject({ exitCode: 0 });
  });

  it("is not stored", async () => {
    const { stdout, stderr } = await serveOnce([], { env: { PLANTSTORE_TOKEN: "chosen-secret" } });
    expect(stdout + stderr).not.toContain("chosen-secret");
    const files = (await readdir(inHome(), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files).toContain(inHome(".local/share/plantstore/plants.db"));
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
  expect(existsSync(configPath())).toBe(false);
  const [, token = ""] =
    /export PLANTSTORE_TOKEN=(pst_\w{49})\n +plantstore create --url \S+ --id/.exec(stderr()) ?? [];
  expect(await createFern(url)).toMatchObject({ exitCode: 4 });
  expect(await createFern(url, { PLANTSTORE_TOKEN: token })).toMatchObject({ exitCode: 0 });
});

it("a store at any free port gets no token that nobody would see, and says how to issue one", async () => {
  const path = inHome("other.db");
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
    const result = await failToServe(["--port", "0", ...args]);
    expect(result).toExit(2, containing(problem));
    expect(await readdir(inHome())).toEqual([]);
  },
);

it("--json prints the token that was issued now, and none that was saved before", async () => {
  const first = await serveOnce(["--json"]);
  const { url, token } = JSON.parse(first.stdout) as { url: string; token: string };
  expect(readSavedToken(configPath(), url)).toBe(token);
  const { stdout } = await serveOnce(["--json"]);
  expect(Object.keys(JSON.parse(stdout) as object)).toEqual(["url"]);
});
