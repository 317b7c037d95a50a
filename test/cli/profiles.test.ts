/** Profiles: named plant stores, each with the settings of its login. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { listSavedOrigins } from "../../src/cli/config/credentials.ts";
import { startServer, testToken } from "../helpers/plant-server.ts";
import { allTerminals, runCli } from "../helpers/run-cli.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

let directory: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
});

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = "") {
  return runCli(args, { env: { PLANTSTORE_CONFIG_DIR: directory, ...env }, stdin });
}

const login = (args: readonly string[]) => run(["login", ...args], {}, testToken);

async function saveSettings(settings: object): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
}

const readSettings = async () =>
  JSON.parse(await readFile(join(directory, "settings.json"), "utf8")) as unknown;

async function readUrl(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await run([...args, "--json"], env);
  const { url, urlSource } = JSON.parse(stdout) as { url: string; urlSource: string };
  return [url, urlSource];
}

const saved = {
  url: "http://127.0.0.1:1",
  profiles: { prod: { url: "http://127.0.0.1:2" }, staging: { url: "http://127.0.0.1:3/v1" } },
};
const file = () => join(directory, "settings.json");

describe("a profile", () => {
  it("is saved by login in addition to the default, and selects its server for every command", async () => {
    await using server = await startServer();
    await using other = await startServer({ basePath: "/v1" });
    expect((await login(["--url", server.url])).stderr).toContain("(now the default)");
    const made = await login(["--profile", "prod", "--url", other.url]);
    expect(made).toMatchObject({ exitCode: 0 });
    expect(made.stderr).toContain(`Logged in to ${other.url} (profile prod)\n`);
    expect(await readSettings()).toEqual({
      url: server.url,
      profiles: { prod: { url: other.url } },
    });
    const plant = ["--id", "1", "--name", "fern"];
    await run(["create", ...plant, "--profile", "prod"]);
    expect(await other.store.list({ limit: 9 })).toHaveLength(1);
    await run(["--profile", "prod", "create", "--id", "2", "--name", "moss"]);
    expect(await other.store.list({ limit: 9 })).toHaveLength(2);
    await run(["create", "--id", "3", "--name", "oak"], { PLANTSTORE_PROFILE: "prod" });
    expect(await other.store.list({ limit: 9 })).toHaveLength(3);
    await run(["create", ...plant]);
    expect(await server.store.list({ limit: 9 })).toHaveLength(1);
    expect(await run(["ping", "--profile", "prod"])).toMatchObject({ exitCode: 0 });
  });

  it("keeps the other settings when a login changes it", async () => {
    await using server = await startServer();
    await saveSettings(saved);
    await login(["--profile", "prod", "--url", server.url]);
    expect(await readSettings()).toEqual({
      ...saved,
      profiles: { ...saved.profiles, prod: { url: server.url } },
    });
    await login(["--url", server.url]);
    expect(await readSettings()).toMatchObject({
      url: server.url,
      profiles: { staging: saved.profiles.staging },
    });
  });

  it("is logged in again without --url", async () => {
    await using server = await startServer();
    await saveSettings({ profiles: { prod: { url: server.url } } });
    const { exitCode, stderr } = await login(["--profile", "prod"]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`Logged in to ${server.url} (profile prod)`);
  });

  it.each<[what: string, args: string[], env: Record<string, string>, url: string, from: string]>([
    ["--profile", ["--profile", "prod"], {}, "http://127.0.0.1:2", "profile prod in FILE"],
    [
      "--profile wins over PLANTSTORE_URL, as flags do",
      ["--profile", "prod"],
      { PLANTSTORE_URL: "http://127.0.0.1:9", PLANTSTORE_PROFILE: "staging" },
      "http://127.0.0.1:2",
      "profile prod in FILE",
    ],
    [
      "PLANTSTORE_URL wins over PLANTSTORE_PROFILE",
      [],
      { PLANTSTORE_URL: "http://127.0.0.1:9", PLANTSTORE_PROFILE: "staging" },
      "http://127.0.0.1:9",
      "PLANTSTORE_URL",
    ],
    [
      "PLANTSTORE_PROFILE wins over the last login",
      [],
      { PLANTSTORE_PROFILE: "staging" },
      "http://127.0.0.1:3/v1",
      "profile staging in FILE",
    ],
    [
      "--url wins over --profile",
      ["--profile", "prod", "--url", "http://127.0.0.1:8"],
      {},
      "http://127.0.0.1:8",
      "--url",
    ],
    [
      "an empty --profile selects none",
      ["--profile="],
      { PLANTSTORE_PROFILE: "prod" },
      "http://127.0.0.1:1",
      "the url in FILE",
    ],
  ])("has its place among the sources: %s", async (_what, args, env, url, from) => {
    await saveSettings(saved);
    const source = from.replace("FILE", file());
    expect(await readUrl(["status", ...args], env)).toEqual([url, source]);
  });

  it("is removed by logout, with the token for its origin", async () => {
    await using server = await startServer();
    await using other = await startServer();
    await login(["--url", server.url]);
    await login(["--profile", "prod", "--url", other.url]);
    expect(await run(["logout", "--profile", "prod"])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("removed the profile prod\n") as string,
    });
    expect(await readSettings()).toEqual({ url: server.url, profiles: {} });
    expect(await listSavedOrigins(directory)).toEqual([server.url]);
  });

  it("cannot be combined with --url in logout", async () => {
    await saveSettings(saved);
    const args = ["logout", "--profile", "prod", "--url", "http://127.0.0.1:9"];
    const { exitCode, stderr } = await run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--profile has a URL of its own: remove --url");
    expect(await readSettings()).toEqual(saved);
  });
});

describe("an unknown profile", () => {
  const known = "saved profiles are prod, staging";

  it.each<[args: string[], problem: string]>([
    [["ping", "--profile", "prdo"], `unknown profile "prdo": did you mean "prod"? The ${known}`],
    [["ping", "--profile", "elsewhere"], `unknown profile "elsewhere": the ${known}`],
    [["ping", "--profile", "constructor"], `unknown profile "constructor": the ${known}`],
    [["logout", "--profile", "prdo"], `unknown profile "prdo": did you mean "prod"? The ${known}`],
    [
      ["login", "--profile", "prdo"],
      `unknown profile "prdo": pass --url to create it; did you mean "prod"? The ${known}`,
    ],
  ])("is an error of %j that lists the known ones", async (args, problem) => {
    await saveSettings(saved);
    const { exitCode, stderr } = await run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`error: ${problem}`);
    expect(await readSettings()).toEqual(saved);
  });

  it("is an error that says how to save the first one", async () => {
    const { exitCode, stderr } = await run(["ping", "--profile", "prod"]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      'error: unknown profile "prod": "plantstore login --profile NAME --url URL" saves one\n',
    );
  });

  it("of PLANTSTORE_PROFILE is an error too", async () => {
    const { exitCode, stderr } = await run(["ping"], { PLANTSTORE_PROFILE: "prod" });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('unknown profile "prod"');
  });

  it.each(["a b", "-x", "x".repeat(65), "ü"])("with the name %j is invalid", async (name) => {
    const { exitCode, stderr } = await run(["ping", `--profile=${name}`]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      "--profile must be a name of letters, digits and - . _, such as prod (got ",
    );
  });
});

describe("--profile before the command", () => {
  it.each<[args: string[], problem: string]>([
    [["--profile", "prod", "list"], "plantstore list has no --profile: remove it"],
    [["--profile", "prod", "ping", "--profile", "prod"], "--profile is given twice: remove it"],
  ])("is rejected in %j", async (args, problem) => {
    await saveSettings(saved);
    const { exitCode, stderr } = await run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`error: ${problem}`);
  });
});

describe("config list", () => {
  it("shows the selected profile, its values, and all profiles", async () => {
    await saveSettings({ ...saved, profiles: { ...saved.profiles, ca: { cacert: "/ca.pem" } } });
    const { exitCode, stdout } = await run(["config", "list", "--profile", "prod"]);
    expect(exitCode).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toContainEqual({
      flag: "--url",
      variable: "PLANTSTORE_URL",
      value: "http://127.0.0.1:2",
      source: `profile prod in ${file()}`,
    });
    expect(lines).toContainEqual({
      flag: "--profile",
      variable: "PLANTSTORE_PROFILE",
      value: "prod",
      source: "--profile",
    });
    expect(lines.slice(-3)).toEqual([
      { profile: "ca", cacert: "/ca.pem" },
      { profile: "prod", url: "http://127.0.0.1:2" },
      { profile: "staging", url: "http://127.0.0.1:3/v1" },
    ]);
  });

  it("shows the profiles as a table on a terminal", async () => {
    await saveSettings(saved);
    const env = { PLANTSTORE_CONFIG_DIR: directory };
    const { stdout } = await runCli(["config", "list"], { env, terminals: allTerminals });
    expect(stdout).toMatch(
      /\n\nPROFILE +URL +CACERT\nprod +http:\/\/127\.0\.0\.1:2\nstaging +http:\/\/127\.0\.0\.1:3\/v1\n$/,
    );
  });

  it("reports an unknown profile, and exits with 2", async () => {
    const { exitCode, stdout } = await run(["config", "list", "--profile", "prod"]);
    expect(exitCode).toBe(2);
    expect(stdout).toContain('"problem":"unknown profile \\"prod\\"');
  });
});

it.each([
  ["create", "--profile", "p"],
  ["--profile", "p"],
])("completion lists the names for %j", async (...words) => {
  await saveSettings(saved);
  const { stdout } = await run(["__complete", "--", ...words]);
  expect(stdout).toBe("prod\t\n");
});

it.each([
  { profiles: [] },
  { profiles: { prod: "x" } },
  { profiles: { prod: { url: 5 } } },
  { cacert: 5 },
])("settings with %j are reported as broken", async (settings) => {
  await saveSettings(settings);
  const { exitCode, stderr } = await run(["ping"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${file()} is broken`);
});
