/** `plantstore status` shows what commands use, finds each problem, changes nothing, and shows no secret. */
import { chmod, chown, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { mintToken } from "../../../src/auth/authenticator.ts";
import { saveSettings, toSettingsFile } from "../../../src/cli/config/saved-settings.ts";
import { toLongFlag } from "../../../src/cli/options/remote.ts";
import { settings } from "../../../src/cli/options/local.ts";
import { openStore } from "../../../src/store/open-store.ts";
import {
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
} from "../../client/scripted-server.ts";
import { saveCredential, toTokenFile } from "../../helpers/credentials.ts";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import { runBinary } from "../../helpers/run-binary.ts";
import { allTerminals, type CliOptions, runCli, startCli } from "../../helpers/run-cli.ts";
import { createSqliteStore } from "../../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

let home: string;
let configDirectory: string;
let dataDirectory: string;
let closedUrl: string;
beforeEach(async () => {
  home = await createTemporaryDirectory();
  configDirectory = join(home, ".config/plantstore");
  dataDirectory = join(home, ".local/share/plantstore");
  closedUrl = await findClosedUrl();
});

interface Report extends Readonly<Record<string, unknown>> {
  readonly ok: boolean;
  readonly checks: readonly { subject: string; state: string; message: string; hints?: string[] }[];
}

/** Runs status with JSON. The default URL has no server. */
async function examine(args: readonly string[] = [], options: CliOptions = {}) {
  const env = { ...(!options.server && { PLANTSTORE_URL: closedUrl }), ...options.env };
  const run = await runCli(["status", "--json", ...args], { home, ...options, env });
  expect(run.stdout).toMatch(/^\{.*\}\n$/);
  const report = JSON.parse(run.stdout) as Report;
  return {
    ...run,
    report,
    find: (subject: string) => {
      const found = report.checks.filter((check) => check.subject === subject);
      return found
        .map(({ state, message, hints = [] }) => [`${state}: ${message}`, ...hints].join("\n"))
        .join("\n");
    },
  };
}

describe("status without a problem", () => {
  it("prints one line for each part with its source, and exits with 0", async () => {
    const store = await createSqliteStore([{ id: 1n, name: "fern" }]);
    await using server = await startServer();
    await saveCredential(configDirectory, { origin: server.url, token: testToken });
    await saveSettings(configDirectory, { login: server.url });
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    const { exitCode, stdout, stderr } = await runCli(["status", "--store", store], { home });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.split("\n").map((line) => line.replaceAll(/ +/g, " "))).toEqual([
      expect.stringMatching(
        /^ok plantstore \d+\.\d+\.\d+ \(plant store 1\.0\.0\), Node\.js 20\.20\.2 on linux x64$/,
      ),
      `ok server ${server.url} (from the URL of the last login in ${toSettingsFile(configDirectory)})`,
      `ok token ${testToken.slice(0, 8)}… saved for this URL: accepted, and may create plants`,
      `ok store ${store} (from --store): 0 active tokens`,
      `ok plants list, get, export and delete use the plant store at ${server.url}`,
      `ok config ${configDirectory} (default): tokens for ${server.url}`,
      `ok data ${dataDirectory} (default)`,
      "",
    ]);
  });

  it("is one line of JSON with --json", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_TOKEN: testToken };
    const { exitCode, report } = await examine(["--url", server.url], { env });
    expect(exitCode).toBe(0);
    const subjects = ["plantstore", "server", "token", "store", "plants", "config", "data"];
    expect(report).toEqual({
      ok: true,
      url: server.url,
      urlSource: "--url",
      tokenSource: "PLANTSTORE_TOKEN",
      tokenPrefix: testToken.slice(0, 8),
      store: `sqlite:${dataDirectory}/plants.db`,
      storeSource: "the default",
      configDirectory,
      dataDirectory,
      checks: subjects.map((subject) => expect.objectContaining({ subject }) as object),
    });
  });

  it("creates nothing and changes nothing", async () => {
    const url = await createSqliteStore([{ id: 1n, name: "fern" }]);
    const path = url.replace("sqlite:", "");
    const before = [await readFile(path), await readdir(dirname(path))];
    await using server = await startServer();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
    for (const args of [[], ["--store", url]]) {
      // A separate process: SQLite removes its log when the process ends.
      expect(await runBinary(["status", ...args], { home, env })).toMatchObject({ code: 0 });
    }
    expect(await readdir(home)).toEqual([]);
    expect([await readFile(path), await readdir(dirname(path))]).toEqual(before);
    expect(await server.store.list({ limit: 1 })).toEqual([]);
  });

  it("does not report missing files as errors", async () => {
    const { find } = await examine();
    for (const subject of ["config", "data", "store"]) {
      expect(find(subject)).toMatch(/^none: .* \(default\): does not exist yet$/m);
    }
  });

  it("has the next command on a line of its own, and as a member of the JSON", async () => {
    const env = { PLANTSTORE_URL: closedUrl };
    const { stdout } = await runCli(["status", "--store", "sqlite:new.db"], { home, env });
    const line = "plantstore serve --store sqlite:new.db";
    expect(stdout).toMatch(new RegExp(`does not exist yet\\n +Create it:\\n +${line}\\n`));
    const { report } = await examine(["--store", "sqlite:new.db"]);
    const hints = ["Create it:", `  ${line}`];
    expect(report["checks"]).toContainEqual(expect.objectContaining({ subject: "store", hints }));
  });

  it("names the variables that leave the place of list and others open", async () => {
    const env = { PLANTSTORE_URL: "http://127.0.0.1:1", PLANTSTORE_STORE: "memory:" };
    const { find } = await examine([], { env });
    expect(find("plants")).toMatch(/^warning: .* are both set: pass --url or --store$/);
  });

  it("are those that are not at their default, with their source", async () => {
    const env = { PLANTSTORE_PORT: "8080", PLANTSTORE_HOST: "", PLANTSTORE_RETRY: "3" };
    const { report, find } = await examine(["--timeout", "2"], { env });
    expect(report["settings"]).toEqual([
      { flag: "--port", value: "8080", source: "PLANTSTORE_PORT" },
      { flag: "--timeout", value: "2s", source: "--timeout" },
      { flag: "--retry", value: "3", source: "PLANTSTORE_RETRY" },
    ]);
    expect(find("--port")).toBe("ok: 8080 (from PLANTSTORE_PORT)");
  });

  it("are all of the table with --all", async () => {
    const { report, find } = await examine(["--all"]);
    const shown = report["settings"] as readonly { flag: string }[];
    const flags = Object.values(settings).map((option) => toLongFlag(option.flags));
    expect(shown.map(({ flag }) => flag)).toEqual(
      flags.filter((flag) => flag !== "--url" && flag !== "--store"),
    );
    expect(find("--max-body")).toBe("ok: 1MiB (default)");
  });

  it.each([
    [{ PLANTSTORE_PORT: "x" }, "--port", "must be a whole number from 0 to 65535"],
    [{ PLANTSTORE_URL: "nowhere" }, "server", "must be a URL such as"],
    [{ PLANTSTORE_TIMEOUT: "x" }, "server", "must be a time such as"],
    [{ PLANTSTORE_STORE: "mysql://x" }, "store", "is invalid: unknown store type"],
  ])("are errors if they are invalid: %j", async (env, subject, problem) => {
    await using server = await startServer();
    const { exitCode, report, find } = await examine([], { server, env });
    expect({ exitCode, ok: report.ok }).toEqual({ exitCode: 2, ok: false });
    expect(find(subject)).toContain(`error: ${Object.keys(env)[0]} ${problem}`);
  });

  it("are reported if a variable is misspelled", async () => {
    const { find } = await examine([], { env: { PLANTSTORE_PROT: "1", PLANTSTORE_EMPTY: "" } });
    expect(find("PLANTSTORE_PROT")).toBe(
      "warning: is unknown and has no effect: check its spelling",
    );
    expect(find("PLANTSTORE_EMPTY")).toBe("");
  });

  it("are wrong usage as invalid flags", async () => {
    const result = await runCli(["status", "--url", "nowhere"]);
    expect(result).toExit(2, /^error: --url must be a URL [^\n]*\n$/);
  });

  it("are shown without secrets", async () => {
    const env = {
      PLANTSTORE_STORE: "postgres://gardener:s3cret-word@127.0.0.1:9/plants",
      PLANTSTORE_PUBLIC_URL: "https://user:s3cret-word@plants.example.org",
      PLANTSTORE_TOKEN: mintToken(),
      PLANTSTORE_SEED: mintToken(),
    };
    for (const args of [[], ["--all"]]) {
      const { stdout, stderr, find } = await examine(args, { env });
      expect(stdout + stderr).not.toContain("s3cret-word");
      expect(stdout + stderr).not.toContain(env.PLANTSTORE_TOKEN);
      expect(stdout + stderr).not.toContain(env.PLANTSTORE_SEED);
      expect(find("store")).toMatch(/^error: the store postgres:\/\/127\.0\.0\.1:9\/plants /);
    }
  });
});

describe("status checks directories, and", () => {
  it("reports a token that other users can read", async () => {
    const file = toTokenFile(configDirectory, closedUrl);
    await saveCredential(configDirectory, { origin: closedUrl, token: testToken });
    await chmod(file, 0o640);
    const { find } = await examine();
    for (const subject of ["config", "token"]) {
      expect(find(subject)).toBe(
        `error: others can read the token in ${file}: consider a new one\nPrevent that:\n  chmod 600 ${file}`,
      );
    }
  });

  it.each([
    [0o750, "read by other users (mode 750)"],
    [0o720, "changed by other users (mode 720)"],
  ])("warns about a directory with mode %o", async (mode, problem) => {
    for (const path of [configDirectory, dataDirectory]) {
      await mkdir(path, { recursive: true });
      await chmod(path, mode);
    }
    const { find } = await examine();
    for (const [subject, path] of Object.entries({
      config: configDirectory,
      data: dataDirectory,
    })) {
      expect(find(subject)).toContain(
        `${path} can be ${problem}\nPrevent that:\n  chmod 700 ${path}`,
      );
    }
  });

  it.runIf(process.geteuid?.() === 0)("warns about a directory of another user", async () => {
    await mkdir(configDirectory, { recursive: true, mode: 0o700 });
    await chown(configDirectory, 12_345, 12_345);
    expect((await examine()).find("config")).toMatch(
      /^warning: .* belongs to another user \(ID 12345\), who can change it\nChoose another path, or take this one over as root:\n  chown 0 \/.*$/,
    );
  });

  it("reports broken saved settings, with 2", async () => {
    await mkdir(configDirectory, { recursive: true });
    await writeFile(toSettingsFile(configDirectory), "{");
    const { exitCode, find } = await examine([], { env: { PLANTSTORE_URL: "" } });
    expect(exitCode).toBe(2);
    for (const subject of ["config", "server"]) {
      expect(find(subject)).toMatch(/^error: .* is broken: it contains no saved settings/);
    }
  });

  it.each(["config", "data"])("reports a file instead of the %s directory", async (subject) => {
    const path = join(home, "file");
    await writeFile(path, "");
    const variable = `PLANTSTORE_${subject.toUpperCase()}_DIR`;
    const { find } = await examine([], { env: { [variable]: path } });
    expect(find(subject)).toBe(
      `error: ${path} (from ${variable}) is not a directory: move it, or use another directory`,
    );
  });

  it("reports a missing home directory only if it is needed", async () => {
    const { find } = await examine([], { home: "" });
    expect(find("data")).toBe("warning: no home directory, so nothing is saved");
    expect(find("store")).toBe("error: no home directory: set PLANTSTORE_DATA_DIR to a directory");
    await using server = await startServer();
    const options = { home: "", server, env: { PLANTSTORE_STORE: "memory:" } };
    expect(await examine([], options)).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe("status opens the store, and", () => {
  it("counts its active tokens", async () => {
    const url = await createSqliteStore([]);
    const store = await openStore(url);
    const token = { prefix: "pst_", name: "", issuedAtMs: 0 };
    await store.addToken({ ...token, digest: "a" });
    await store.addToken({ ...token, digest: "b", expiresAtMs: 1 });
    await store.close();
    const { find } = await examine(["--store", url]);
    expect(find("store")).toBe(`ok: ${url} (from --store): 1 active token`);
  });

  it("warns about a store that others can read, or a directory where they can put files", async () => {
    const store = await createSqliteStore([]);
    const path = store.replace("sqlite:", "");
    const find = async (url = store) => (await examine(["--store", url])).find("store");
    await chmod(path, 0o644);
    expect(await find()).toContain(
      `${path} can be read by other users (mode 644)\nPrevent that:\n  chmod 600 ${path}`,
    );
    await chmod(path, 0o600);
    const link = `${path}.link`;
    await symlink(path, link);
    await chmod(dirname(path), 0o777);
    expect(await find(`sqlite:${link}`)).toContain(
      `${dirname(path)} can be changed by other users (mode 777)\nPrevent that:\n  chmod go-w ${dirname(path)}`,
    );
    await rm(link);
    await chmod(dirname(path), 0o755);
    expect(await find()).toMatch(/^ok: /);
  });

  it("does not check memory:", async () => {
    const { find } = await examine(["--store", "memory:"]);
    expect(find("store")).toBe("ok: memory: (from --store): exists only inside its server");
  });
});

describe("status checks the server and the token, and finds", () => {
  /** The error of a create with the same options. */
  const create = async (options: CliOptions) => {
    const args = ["create", "--id", "1", "--name", "fern"];
    return runCli(args, { home, ...options, env: { PLANTSTORE_RETRY: "0", ...options.env } });
  };

  it("no server, which is the only error without a saved token", async () => {
    const { exitCode, find, report } = await examine();
    expect(exitCode).toBe(6);
    expect(find("server")).toMatch(/^error: cannot connect to /);
    expect(find("token")).toBe("none: none is saved for this URL");
    expect(report.checks.filter(({ state }) => state === "error")).toHaveLength(1);
  });

  it("another server, in the words of create, which never gets the token", async () => {
    const server = await openScriptedServer(json(200, "[]"));
    const { exitCode, find } = await examine([], { server });
    expect(exitCode).toBe(7);
    expect(server.requests.length).toBeGreaterThan(0);
    for (const { headers } of server.requests) expect(headers).not.toHaveProperty("authorization");
    expect(await create({ server })).toExit(7, `${find("server")}\n`);
    expect(find("token")).toMatch(/: not checked$/);
  });

  it("no token: the server is known all the same", async () => {
    await using server = await startServer();
    const options = { env: { PLANTSTORE_URL: server.url } };
    const { exitCode, find } = await examine([], options);
    expect(exitCode).toBe(4);
    expect(find("server")).toBe(`ok: ${server.url} (from PLANTSTORE_URL)`);
    expect(await create(options)).toExit(4, `${find("token")}\n`);
  });

  it.each([
    [40102, 4],
    [50301, 6],
    [40000, 7],
  ])("error %i for the token, and exits with %i as create", async (error, exit) => {
    const noToken = errorResponse(40100);
    const failure = errorResponse(error);
    const { url } = await openScriptedServer(noToken, json(404, ""), failure);
    const env = { PLANTSTORE_TOKEN: "of-my-own" };
    const { exitCode, find } = await examine([], { server: { url }, env });
    expect(exitCode).toBe(exit);
    expect(find("token")).toContain(`error: error ${error}: message of ${error}`);
  });

  it("a server whose storage fails", async () => {
    const server = await openScriptedServer(
      errorResponse(40100),
      json(503, '{"error":50700,"message":"the storage is full"}'),
      errorResponse(42201),
    );
    const { exitCode, find } = await examine([], { server: { url: `${server.url}/v1` } });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v1/plants",
      "GET /readyz",
      "POST /v1/plants",
    ]);
    expect(exitCode).toBe(6);
    expect(find("server")).toBe("error: error 50700: the storage is full");
    expect(find("token")).toMatch(/^ok: /);
  });
});

describe("the output of status", () => {
  it("has colour only on a terminal", async () => {
    const options = { home, env: { PLANTSTORE_URL: closedUrl }, terminals: allTerminals };
    expect((await runCli(["status"], options)).stdout).toContain("\u001b[");
    const piped = await runCli(["status"], { ...options, terminals: {} });
    expect(piped.stdout).not.toContain("\u001b[");
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends on %s during the wait for a server", async (signal, exitCode) => {
    const url = await openRawServer(() => expect(run.signal(signal)).toBe(true));
    const run = startCli(["status"], { home, server: { url } });
    expect(await run.finished).toExit(
      exitCode,
      `error: stopped by ${signal}\n`,
      /^ok +plantstore /,
    );
  });
});
