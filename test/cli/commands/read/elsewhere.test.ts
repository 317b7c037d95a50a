/** Explains why a local store lacks a plant: `create` sends plants to a server with another store. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { digestToken } from "../../../../src/auth/authenticator.ts";
import { saveSettings } from "../../../../src/cli/config/saved-settings.ts";
import { findClosedUrl, openRawServer } from "../../../client/scripted-server.ts";
import { startServer, testToken } from "../../../helpers/plant-server.ts";
import { allTerminals, runCli, startCli } from "../../../helpers/run-cli.ts";
import { changeStore, createSqliteStore } from "../../../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../../../helpers/temporary-directory.ts";

const inMemory = /\sthe server at http:\S+ keeps its plants in memory: read them with --url http:/;
/** A terminal gets long messages in several lines. */
const unwrap = (text: string): string => text.replaceAll(/\s+/g, " ");
const toUnknownId = (store: string) =>
  `error: no plant has the id 1: "plantstore list --store ${store}" shows all plants\n`;

it.each([
  ["get of an unknown id", ["get", "1"], {}],
  ["an empty list on a terminal", ["list"], { terminals: { stderr: true } }],
])("%s explains a server with a memory: store", async (_what, args, options) => {
  const store = await createSqliteStore([]);
  await using server = await startServer();
  const env = { PLANTSTORE_URL: server.url };
  const { stderr } = await runCli([...args, "--store", store], { ...options, env });
  expect(unwrap(stderr)).toMatch(inMemory);
});

it("a missing store explains a server with a memory: store", async () => {
  await using server = await startServer();
  const { exitCode, stderr } = await runCli(["list"], { env: { PLANTSTORE_URL: server.url } });
  expect(exitCode).toBe(2);
  expect(unwrap(stderr)).toMatch(inMemory);
});

it("a missing store is named after a last login to another machine", async () => {
  const env = { PLANTSTORE_URL: "https://plants.example.org" };
  for (const words of ["list", "get 1", "export", "delete 1 --yes", "token issue"]) {
    const problem =
      /this (?:reads|changes) \S+plants\.db; "create" sends to https:\/\/plants\.example\.org \(PLANTSTORE_URL\)\nerror: the store \S+plants\.db does not exist: /;
    expect(await runCli(words.split(" "), { env })).toExit(2, problem);
  }
});

describe("the default store, while create sends to another server,", () => {
  const remoteUrl = "https://plants.example.org/v1";
  let home: string;
  let config: string;
  let store: string;
  beforeEach(async () => {
    home = await createTemporaryDirectory();
    config = join(home, ".config/plantstore");
    store = `sqlite:${home}/.local/share/plantstore/plants.db`;
    await mkdir(join(home, ".local/share/plantstore"), { recursive: true });
    const token = { digest: digestToken(testToken), prefix: "", name: "ci", issuedAtMs: 0 };
    await changeStore(store, { plants: [{ id: 1n, name: "fern" }], tokens: [token] });
  });

  const toSentence = (verb: string, url = remoteUrl, source = "last login"): string =>
    `this ${verb} ${store}; "create" sends to ${url} (${source})\n`;

  it.each(["list", "get 1", "export", "token list"])("is noted by %s", async (words) => {
    await saveSettings(config, { url: remoteUrl });
    const stderr = `note: ${toSentence("reads")}`;
    expect(await runCli(words.split(" "), { home })).toMatchObject({ exitCode: 0, stderr });
  });

  it("names the first serve", async () => {
    await saveSettings(config, { url: remoteUrl, savedBy: "serve" });
    const { stderr } = await runCli(["list"], { home });
    expect(stderr).toBe(`note: ${toSentence("reads", remoteUrl, "first serve")}`);
  });

  it.each([
    ["changes", ["delete", "1", "--yes"]],
    ["changes", ["token", "issue"]],
    ["changes", ["token", "revoke", "ci"]],
    ["copies", ["backup", "--force", "/dev/null/x"]],
    ["replaces", ["restore", "/dev/null/x"]],
  ])("is a warning: this %s, for %j", async (verb, args) => {
    await saveSettings(config, { url: remoteUrl });
    const { stderr } = await runCli(args, { home });
    expect(stderr.slice(0, stderr.indexOf("\n") + 1)).toBe(`warning: ${toSentence(verb)}`);
  });

  it("is a warning before the prompt of delete", async () => {
    await saveSettings(config, { url: remoteUrl });
    const env = { NO_COLOR: "1" };
    const run = startCli(["delete", "1"], { home, env, terminals: allTerminals, columns: 400 });
    await run.saw("[y/N]");
    expect(run.stderr()).toMatch(/^warning: this changes .*\n.*Delete the plant/);
    run.signal("SIGINT");
    expect((await run.finished).exitCode).toBe(130);
  });

  it("is noted instead of the name of the store on a terminal", async () => {
    const options = { home, terminals: { stderr: true }, columns: 400 };
    const env = { PLANTSTORE_URL: remoteUrl };
    const { stderr } = await runCli(["list"], { ...options, env });
    expect(stderr).toBe(`note: ${toSentence("reads", remoteUrl, "PLANTSTORE_URL")}`);
  });

  it.each(["http://127.0.0.1:9000", "unix:/run/plants.sock"])(
    "is noted after a login at another port of this machine: %s",
    async (url) => {
      await saveSettings(config, { url });
      const stderr = `note: ${toSentence("reads", url)}`;
      expect(await runCli(["list", "--json"], { home })).toMatchObject({ exitCode: 0, stderr });
    },
  );

  it.each(["http://127.0.0.1:9000", "unix:/run/other.sock"])(
    "is noted if the variable selects another port or socket of this machine: %s",
    async (url) => {
      await saveSettings(config, { url: "unix:/run/plants.sock", savedBy: "serve" });
      const run = { home, env: { PLANTSTORE_URL: url } };
      const { stderr } = await runCli(["list"], run);
      expect(stderr).toBe(`note: ${toSentence("reads", url, "PLANTSTORE_URL")}`);
      const deletion = await runCli(["delete", "7", "--yes"], run);
      expect(deletion.stderr).toContain(`warning: ${toSentence("changes", url, "PLANTSTORE_URL")}`);
    },
  );

  it("is not noted with --store, at the default port, or at that of a serve", async () => {
    expect((await runCli(["list"], { home })).stderr).toBe("");
    await saveSettings(config, { url: "http://localhost:7526/v1" });
    expect((await runCli(["list"], { home })).stderr).toBe("");
    for (const served of ["http://127.0.0.1:9000", "unix:/run/plants.sock"]) {
      await saveSettings(config, { url: served, savedBy: "serve" });
      expect((await runCli(["list"], { home })).stderr).toBe("");
      const variable = { home, env: { PLANTSTORE_URL: served } };
      expect((await runCli(["list"], variable)).stderr).toBe("");
    }
    await saveSettings(config, { url: remoteUrl });
    expect((await runCli(["list", "--store", store], { home })).stderr).toBe("");
    const env = { PLANTSTORE_STORE: store };
    expect((await runCli(["list"], { home, env })).stderr).toBe("");
  });
});

it.each([
  ["list"],
  ["get", "1"],
  ["export"],
  ["token", "issue"],
  ["token", "list"],
  ["token", "revoke", "ci"],
  ["backup", "--force", "/dev/null/x"],
])("names its store on a terminal: %s %s", async (...args) => {
  const store = await createSqliteStore([]);
  const options = { terminals: { stderr: true }, columns: 200 };
  expect((await runCli([...args, "--store", store], options)).stderr).toContain(
    `Store: ${store}\n`,
  );
});

it.each([
  ["token", "issue"],
  ["backup", "x"],
])("%s explains that --url is not for it", async (...args) => {
  const problem = /^error: no '--url': this command opens a store, not a server/;
  expect(await runCli([...args, "--url", "http://127.0.0.1:1"])).toExit(2, problem);
});

it("--store with the URL of a server explains the difference, without its path", async () => {
  const result = await runCli(["list", "--store", "https://plants.example.org/pw"]);
  expect(result).toExit(
    2,
    /^error: --store is invalid: "https:" is for the URL of a server, but a store is opened without one: run this on the machine of the server, and use sqlite:PATH/,
  );
  expect(result.stderr).not.toContain("/pw");
});

it.each(["export", "delete 1 --yes"])("%s stops the server check at Ctrl-C", async (words) => {
  let connect = (): void => undefined;
  const isConnected = new Promise<void>((resolve) => (connect = resolve));
  const env = { PLANTSTORE_URL: await openRawServer(() => connect()) };
  const run = startCli(words.split(" "), { env });
  await isConnected;
  run.signal("SIGINT");
  expect(await run.finished).toMatchObject({ exitCode: 130 });
});

it("adds nothing if no server responds, and nothing for an empty list in a pipe", async () => {
  const store = await createSqliteStore([]);
  const closed = { env: { PLANTSTORE_URL: await findClosedUrl() } };
  expect((await runCli(["get", "1", "--store", store], closed)).stderr).toBe(toUnknownId(store));
  await using server = await startServer();
  const memory = { env: { PLANTSTORE_URL: server.url } };
  expect((await runCli(["list", "--store", store], memory)).stderr).toBe("");
});

it("adds nothing if the URL of the server is invalid", async () => {
  const store = await createSqliteStore([]);
  const env = { PLANTSTORE_URL: "x" };
  expect(await runCli(["get", "1", "--store", store], { env })).toExit(9, toUnknownId(store));
});
