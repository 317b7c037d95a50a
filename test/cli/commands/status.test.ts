/** `plantstore status`: the server, the token, the store, directories and settings, with their sources. */
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { mintToken } from "../../../src/auth/authenticator.ts";
import { saveCredential, toTokenFile } from "../../helpers/credentials.ts";
import { saveSettings, toSettingsFile } from "../../../src/cli/config/saved-settings.ts";
import { toLongFlag } from "../../../src/cli/options/remote.ts";
import { settings } from "../../../src/cli/options/local.ts";
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

let home: string;
let directory: string;
let dataDirectory: string;
beforeEach(async () => {
  home = await createTemporaryDirectory();
  directory = join(home, ".config/plantstore");
  dataDirectory = join(home, ".local/share/plantstore");
});

function status(args: readonly string[] = [], options: CliOptions = {}) {
  return runCli(["status", ...args], { home, ...options });
}

async function readReport(
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { exitCode, stdout } = await status(["--json", ...args], options);
  expect(stdout).toMatch(/^\{.*\}\n$/);
  return { exitCode, ...(JSON.parse(stdout) as object) };
}

/** The directories of an empty home directory. */
const missingDirectories = () => ({
  config: { path: directory, source: "the default", exists: false },
  data: { path: dataDirectory, source: "the default", exists: false },
});

describe("status", () => {
  it("notes that the server is on another machine than the default store", async () => {
    const { stdout } = await status(["--url", "https://plants.invalid"]);
    const note = '  Note       it is on this machine; "create" sends to https://plants.invalid\n';
    expect(stdout).toMatch(/\n {2}Store {6}.*\n {2}Note /);
    expect(stdout).toContain(note);
    const env = { PLANTSTORE_STORE: "memory:" };
    expect((await status(["--url", "https://plants.invalid"], { env })).stdout).not.toContain(
      "Note",
    );
  });

  it("shows the server, the token, the store and the directories, with their sources", async () => {
    await using server = await startServer();
    await saveCredential(directory, { origin: server.url, token: testToken });
    await saveCredential(directory, { origin: "https://other.example", token: mintToken() });
    await saveSettings(directory, { url: server.url });
    const { exitCode, stdout, stderr } = await status();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const file = `credentials/${encodeURIComponent(server.url)}.json`;
    expect(stdout.split("\n")).toEqual([
      "Commands that talk to a server:",
      `  Server     ${server.url} (from the url in ${toSettingsFile(directory)})`,
      "  Reachable  yes",
      `  Token      ${testToken.slice(0, 8)}… from the saved file`,
      "  Accepted   yes",
      `  Saved      in Config: ${file} (only its owner can read it)`,
      "  Others     tokens for https://other.example",
      "",
      "Commands that open a store directly:",
      `  Store      sqlite:${dataDirectory}/plants.db (default, does not exist yet)`,
      "",
      "Directories:",
      `  Config     ${directory} (default)`,
      `  Data       ${dataDirectory} (default, does not exist yet)`,
      "",
      'Other settings: all at their defaults ("plantstore status --all" shows them)',
      "",
    ]);
  });

  it("is one line of JSON with --json", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_TOKEN: testToken };
    expect(await readReport(["--url", server.url], { env })).toEqual({
      exitCode: 0,
      url: server.url,
      urlSource: "--url",
      reachable: true,
      tokenSource: "PLANTSTORE_TOKEN",
      tokenPrefix: testToken.slice(0, 8),
      otherOrigins: [],
      works: true,
      store: `sqlite:${dataDirectory}/plants.db`,
      storeSource: "the default",
      storeExists: false,
      directories: missingDirectories(),
      settings: [{ flag: "--url", variable: "PLANTSTORE_URL", value: server.url, source: "--url" }],
    });
  });

  it("names the saved file of the token with --json", async () => {
    await using server = await startServer();
    await saveCredential(directory, { origin: server.url, token: testToken });
    const file = toTokenFile(directory, server.url);
    expect(await readReport(["--url", server.url])).toMatchObject({
      tokenSource: file,
      savedIn: file,
      readableBy: "none",
    });
  });

  it("creates no plant, and neither opens nor creates a store", async () => {
    await using server = await startServer();
    await mkdir(dataDirectory, { recursive: true });
    await writeFile(join(dataDirectory, "plants.db"), "not a database");
    const output = `  Store      sqlite:${dataDirectory}/plants.db (default)\n`;
    expect(await status([], { server })).toPrint(containing(output));
    expect(await server.store.list({ limit: 1 })).toEqual([]);
    expect(await readReport()).toMatchObject({ storeExists: true });
  });

  it.each([
    [40102, 4],
    [50301, 6],
    [1, 7],
  ])("reports error %i, and exits with %i", async (error, exit) => {
    const noToken = errorResponse(40100);
    const failure = errorResponse(error);
    const { url } = await openScriptedServer(noToken, failure, failure, noToken, failure);
    const env = { PLANTSTORE_TOKEN: "of-my-own", PLANTSTORE_URL: url };
    const { exitCode, stdout } = await status([], { env });
    expect(exitCode).toBe(exit);
    expect(stdout).toContain(`  Server     ${url} (from PLANTSTORE_URL)\n  Reachable  yes\n`);
    expect(stdout).toContain("  Token      from PLANTSTORE_TOKEN\n");
    expect(stdout).toContain(`  Accepted   no: error ${error}: message of ${error}\n\n`);
    expect(await readReport([], { env })).toMatchObject({ reachable: true, works: false, error });
  });

  it("prints the whole report without a token and without a server, and exits with 6 as create", async () => {
    const url = await findClosedUrl();
    const { exitCode, stdout } = await status([], { env: { PLANTSTORE_URL: url } });
    expect(exitCode).toBe(6);
    expect(stdout).toContain(
      `  Reachable  no: cannot connect to ${url}: connection refused: start a server with`,
    );
    expect(stdout).toContain(
      '  Token      none is saved: the first "plantstore serve" of a new store saves one\n',
    );
    expect(stdout).toMatch(/^ {2}Store {6}sqlite:[^]*^ {2}Config [^]*^Other settings: /m);
    expect(stdout).not.toContain("Accepted");
  });

  it("says that no token is saved for this URL if one is saved for another", async () => {
    const origin = "https://other.example";
    await saveCredential(directory, { origin, token: mintToken() });
    const { stdout } = await status([], { env: { PLANTSTORE_URL: await findClosedUrl() } });
    expect(stdout).toContain(
      `  Token      none is saved for this URL\n  Others     tokens for ${origin}\n`,
    );
  });

  it("distinguishes a store and directories that cannot be read from missing ones", async () => {
    for (const name of ["config", "data", "plants.db"]) {
      await symlink(name, join(home, name));
    }
    const env = {
      PLANTSTORE_CONFIG_DIR: join(home, "config"),
      PLANTSTORE_DATA_DIR: join(home, "data"),
      PLANTSTORE_STORE: `sqlite:${home}/plants.db`,
    };
    const options = { server: { url: await findClosedUrl() }, env };
    const { stdout } = await status([], options);
    const problem = "too many symbolic links encountered";
    expect(stdout).toContain(`/plants.db (from PLANTSTORE_STORE, ${problem})\n`);
    expect(stdout).toContain(`/config (from PLANTSTORE_CONFIG_DIR, ${problem})\n`);
    expect(stdout).toContain(`/data (from PLANTSTORE_DATA_DIR, ${problem})\n`);
    expect(await readReport([], options)).toMatchObject({
      storeExists: true,
      storeProblem: problem,
      directories: { config: { exists: true, problem }, data: { exists: true, problem } },
    });
  });

  it("shows that the URL is that of the first serve", async () => {
    const url = await findClosedUrl();
    await saveSettings(directory, { url, savedBy: "first serve" });
    const file = toSettingsFile(directory);
    expect((await status()).stdout).toContain(
      `  Server     ${url} (from the url of the first serve in ${file})\n`,
    );
  });

  it("shows that a wrong path is not reachable, with the right URL, and exits with 7", async () => {
    await using server = await startServer();
    const options = { server: { url: `${server.url}/plants` } };
    const { exitCode, stdout } = await status([], options);
    expect(exitCode).toBe(7);
    expect(stdout).toContain(
      '  Reachable  no: unknown path "/plants/plants": create plants with POST /plants: remove /plants from --url\n',
    );
    expect(stdout).toContain("  Accepted   not checked, because the server is not reachable\n");
    expect(await readReport([], options)).toMatchObject({ reachable: false, error: 40400 });
  });

  it("without a token still shows that a plant store responds, and exits with 4", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_URL: server.url };
    const report = await readReport([], { env });
    expect(report).toMatchObject({ exitCode: 4, reachable: true, works: false });
    expect(report).toMatchObject({ problem: expect.stringContaining("no token for") as string });
  });

  it("uses http://127.0.0.1:7526 by default", async () => {
    expect(await readReport([], { env: { PLANTSTORE_TIMEOUT: "1ms" } })).toMatchObject({
      url: "http://127.0.0.1:7526",
      urlSource: "the default",
    });
  });

  it("reports that no server listens, and exits with 6", async () => {
    const options = { server: { url: await findClosedUrl() } };
    const problem = containing("cannot connect to");
    expect(await readReport([], options)).toMatchObject({
      exitCode: 6,
      reachable: false,
      serverProblem: problem,
      works: false,
      problem,
    });
    const { stdout } = await status([], options);
    expect(stdout).toContain("  Accepted   not checked, because the server is not reachable\n");
  });

  it("reports another server at the URL, and exits with 7", async () => {
    const server = await openScriptedServer(json(200, "[]"));
    const { exitCode, stdout } = await status([], { server });
    expect(exitCode).toBe(7);
    expect(stdout).toContain("  Reachable  no: ");
    expect(stdout).toContain("holds no Plant");
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  it.each([
    [0o640, "others of its group"],
    [0o604, "everyone"],
  ])("reports who can read a file of mode %o, with advice, and exits with 2", async (mode, who) => {
    const origin = await findClosedUrl();
    await saveCredential(directory, { origin, token: testToken });
    const file = toTokenFile(directory, origin);
    await chmod(file, mode);
    const { exitCode, stdout } = await status([], { env: { PLANTSTORE_URL: origin } });
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(new RegExp(`^ {2}Saved .*\\.json \\(${who} can read it\\)$`, "m"));
    expect(stdout).toContain(`run "chmod 600 ${file}"`);
  });

  it("works without a home directory", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_TOKEN: testToken };
    const { exitCode, stdout } = await status(["--url", server.url], { env, home: "" });
    expect(exitCode).toBe(0);
    const none = "none: no home directory: set PLANTSTORE";
    expect(stdout).toContain(`  Store      ${none}_DATA_DIR to a directory\n`);
    expect(stdout).toContain(`  Config     ${none}_CONFIG_DIR to a directory\n`);
    expect(stdout).toContain(`  Data       ${none}_DATA_DIR to a directory\n`);
  });

  it("exits with 143 on SIGTERM", async () => {
    let connect = (): void => undefined;
    const connected = new Promise<void>((resolve) => (connect = resolve));
    const url = await openRawServer(() => connect());
    const env = { PLANTSTORE_TOKEN: testToken };
    const waiting = startCli(["status", "--url", url], { home, env });
    await connected;
    expect((await waiting.stop()).exitCode).toBe(143);
  });

  it.each([80, 40])("fits a terminal of %i columns", async (columns) => {
    const server = { url: await findClosedUrl() };
    const options = { home: "/h", server, terminals: allTerminals, columns };
    const { stdout } = await runCli(["status", "--all"], options);
    expect(stdout).toMatch(/^ {2}--host +127\.0\.0\.1\s+\(default\)$/m);
    expect(stdout).not.toMatch(/ $/m);
    const tooLong = stdout.split("\n").filter((line) => line.length > columns);
    expect(tooLong.filter((line) => line.trim().includes(" "))).toEqual([]);
  });
});

describe("the settings of status", () => {
  it("are those that are not at their default, with their source", async () => {
    const env = { PLANTSTORE_PORT: "8080", PLANTSTORE_HOST: "", PLANTSTORE_RETRY: "3" };
    const report = await readReport(["--timeout", "2"], { env });
    expect(report["settings"]).toEqual([
      { flag: "--port", variable: "PLANTSTORE_PORT", value: "8080", source: "PLANTSTORE_PORT" },
      { flag: "--timeout", variable: "PLANTSTORE_TIMEOUT", value: "2s", source: "--timeout" },
      { flag: "--retry", variable: "PLANTSTORE_RETRY", value: "3", source: "PLANTSTORE_RETRY" },
    ]);
    const { stdout } = await status([], { env });
    expect(stdout).toMatch(
      /\n\nOther settings:\n {2}--port {3}8080 \(from PLANTSTORE_PORT\)\n {2}--retry {2}3 \(from PLANTSTORE_RETRY\)\n$/,
    );
  });

  it("are all of the table with --all", async () => {
    await saveSettings(directory, { url: "http://127.0.0.1:9" });
    const shown = (await readReport(["--all"]))["settings"] as readonly { flag: string }[];
    const flags = Object.values(settings).map((option) => toLongFlag(option.flags));
    expect(shown.map(({ flag }) => flag)).toEqual(flags);
    expect(shown).toEqual(
      expect.arrayContaining([
        {
          flag: "--url",
          variable: "PLANTSTORE_URL",
          value: "http://127.0.0.1:9",
          source: `the url in ${toSettingsFile(directory)}`,
        },
        {
          flag: "--store",
          variable: "PLANTSTORE_STORE",
          value: `sqlite:${dataDirectory}/plants.db`,
          source: "the default",
        },
      ]),
    );
    const { stdout } = await status(["--all"]);
    expect(stdout).toMatch(/^ {2}--max-body +1MiB \(default\)$/m);
    expect(stdout).not.toMatch(/^ +--(?:url|store) /m);
  });

  it("that are invalid are reported in their place, and the exit code is 2", async () => {
    await using server = await startServer();
    const options = { server, env: { PLANTSTORE_PORT: "x" } };
    const problem = 'PLANTSTORE_PORT must be a whole number from 0 to 65535 (got "x")';
    const report = await readReport([], options);
    expect(report).toMatchObject({ exitCode: 2, works: true });
    expect(report["settings"]).toContainEqual({
      flag: "--port",
      variable: "PLANTSTORE_PORT",
      problem,
    });
    const output = containing(`  --port  invalid: ${problem}\n`);
    expect(await status([], options)).toExit(2, "", output);
  });

  it.each([
    [{ PLANTSTORE_URL: "nowhere" }, "Server     invalid: PLANTSTORE_URL must be a URL such as"],
    [{ PLANTSTORE_TIMEOUT: "x" }, "--timeout  invalid: PLANTSTORE_TIMEOUT must be a time"],
  ])("prevent the check of the server if they are invalid: %j", async (env, line) => {
    const { exitCode, stdout } = await status([], { env });
    expect(exitCode).toBe(2);
    expect(stdout).toContain(`  ${line}`);
    expect(stdout).toContain("  Reachable  not checked, because a setting is invalid\n");
    expect(stdout).toContain("  Store      sqlite:");
    expect(await readReport([], { env })).toMatchObject({
      exitCode: 2,
      works: false,
      problem: expect.stringContaining(" must be a ") as string,
    });
  });

  it("that are broken are reported with the rest of the report, and the exit code is 2", async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(toSettingsFile(directory), "{");
    const { exitCode, stdout } = await status();
    expect(exitCode).toBe(2);
    expect(stdout).toContain(`  Server     invalid: ${toSettingsFile(directory)} is broken`);
    expect(stdout).toContain("  Store      sqlite:");
  });

  it("that are invalid flags are wrong usage", async () => {
    expect(await status(["--url", "nowhere"])).toExit(2, /^error: --url must be a URL [^\n]*\n$/);
  });

  it("hide passwords and tokens", async () => {
    const env = {
      PLANTSTORE_STORE: "postgres://plants:geheim@db.example.org/plants",
      PLANTSTORE_URL: await findClosedUrl(),
      PLANTSTORE_TOKEN: mintToken(),
      PLANTSTORE_SEED: mintToken(),
    };
    for (const args of [[], ["--json"], ["--all"]]) {
      const { stdout, stderr } = await status(args, { env });
      expect(stdout).toContain("db.example.org");
      expect(stdout + stderr).not.toContain("geheim");
      expect(stdout + stderr).not.toContain(env.PLANTSTORE_TOKEN);
      expect(stdout + stderr).not.toContain(env.PLANTSTORE_SEED);
    }
  });
});

describe("the directories of status", () => {
  it("have their sources, and whether they exist", async () => {
    const data = join(home, "data");
    await mkdir(data);
    const env = { PLANTSTORE_DATA_DIR: data };
    const report = await readReport([], { env });
    expect(report["directories"]).toEqual({
      ...missingDirectories(),
      data: { path: data, source: "PLANTSTORE_DATA_DIR", exists: true },
    });
    expect(report["store"]).toBe(`sqlite:${data}/plants.db`);
  });

  it("are not created", async () => {
    await status();
    expect(await readReport()).toMatchObject({ directories: missingDirectories() });
  });
});

it("help config shows the topic that it is a part of", async () => {
  expect(await runCli(["help", "config"])).toPrint(/^# Configuration\n/);
});

it.each(["config", "config list", "config get port"])("%j names status", async (words) => {
  const { exitCode, stderr } = await runCli(words.split(" "));
  expect(exitCode).toBe(2);
  expect(stderr.split("\n")[0]).toBe(
    "error: unknown command 'config': \"plantstore status\" shows settings, their sources and the directories",
  );
});
