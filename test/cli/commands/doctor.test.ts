/** `plantstore doctor` finds each problem, changes nothing, and shows no secret. */
import { chmod, chown, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { mintToken } from "../../../src/auth/authenticator.ts";
import { saveCredential, toTokenFile } from "../../helpers/credentials.ts";
import { saveSettings, toSettingsFile } from "../../../src/cli/config/saved-settings.ts";
import { openStore } from "../../../src/store/open-store.ts";
import {
  type Responder,
  errorResponse,
  findClosedUrl,
  json,
  openRawServer,
  openScriptedServer,
} from "../../client/scripted-server.ts";
import { startServer, testToken } from "../../helpers/plant-server.ts";
import { runBinary } from "../../helpers/run-binary.ts";
import { allTerminals, type CliOptions, runCli, startCli } from "../../helpers/run-cli.ts";
import { createSqliteStore } from "../../helpers/sqlite-store.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

let home: string;
let configDirectory: string;
let closedUrl: string;
beforeEach(async () => {
  home = await createTemporaryDirectory();
  configDirectory = join(home, ".config/plantstore");
  closedUrl = await findClosedUrl();
});

interface Report {
  readonly ok: boolean;
  readonly checks: readonly { subject: string; state: string; message: string }[];
}

/** Runs doctor. The default URL has no server. */
async function examine(args: readonly string[] = [], options: CliOptions = {}) {
  const env = { ...(!options.server && { PLANTSTORE_URL: closedUrl }), ...options.env };
  const run = await runCli(["doctor", "--json", ...args], { home, ...options, env });
  const report = JSON.parse(run.stdout) as Report;
  return {
    ...run,
    report,
    find: (subject: string) => {
      const found = report.checks.filter((check) => check.subject === subject);
      return found.map(({ state, message }) => `${state}: ${message}`).join("\n");
    },
  };
}

describe("doctor without a problem", () => {
  it("prints one line for each check, and exits with 0", async () => {
    const store = await createSqliteStore([{ id: 1n, name: "fern" }]);
    await using server = await startServer();
    await saveCredential(configDirectory, { origin: server.url, token: testToken });
    await saveSettings(configDirectory, { url: server.url });
    await mkdir(join(home, ".local/share/plantstore"), { recursive: true, mode: 0o700 });
    const { exitCode, stdout, stderr } = await runCli(["doctor", "--store", store], { home });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const lines = stdout.replaceAll(/\d{4}-\d\d-\d\dT\S+Z/g, "<now>").replaceAll(home, "<home>");
    expect(lines.split("\n").map((line) => line.replaceAll(/ +/g, " "))).toEqual([
      expect.stringMatching(/^ok plantstore \d+\.\d+\.\d+ \(plant store 1\.0\.0\)$/),
      "ok node 20.20.2 on linux x64",
      "ok config <home>/.config/plantstore is writable and private (mode 700)",
      "ok data <home>/.local/share/plantstore is writable and private (mode 700)",
      'ok settings all valid; "plantstore status --all" shows them',
      `ok store ${store} is sound, with 0 active tokens`,
      `ok server ${server.url} is a plant store`,
      "ok token accepted by the server",
      "ok clock <now>, the same as the server's",
      "",
    ]);
  });

  it("creates nothing and changes nothing", async () => {
    const url = await createSqliteStore([{ id: 1n, name: "fern" }]);
    const path = url.replace("sqlite:", "");
    const before = [await readFile(path), await readdir(dirname(path))];
    await using server = await startServer();
    const env = { PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: testToken };
    for (const args of [[], ["--store", url]]) {
      // A separate process: SQLite removes its log when the process ends.
      expect(await runBinary(["doctor", ...args], { home, env })).toMatchObject({ code: 0 });
    }
    expect(await readdir(home)).toEqual([]);
    expect([await readFile(path), await readdir(dirname(path))]).toEqual(before);
    expect(await server.store.list({ limit: 1 })).toEqual([]);
  });

  it("does not report missing files as errors", async () => {
    const { find } = await examine();
    expect(find("config")).toMatch(
      /^none: .* does not exist yet: "plantstore login" or "plantstore serve" creates it$/,
    );
    expect(find("data")).toMatch(/^none: .* does not exist yet: "plantstore serve" creates it$/);
    expect(find("store")).toMatch(/^none: .* does not exist yet: "plantstore serve" creates it$/);
  });
});

describe("doctor checks settings, which", () => {
  it("are not listed", async () => {
    const options = { home, env: { PLANTSTORE_URL: closedUrl } };
    expect((await runCli(["doctor"], options)).stdout).not.toContain("--max-body");
    const asJson = await runCli(["doctor", "--json"], options);
    expect(Object.keys(JSON.parse(asJson.stdout) as object)).toEqual(["ok", "checks"]);
  });

  it.each([
    [
      { PLANTSTORE_PORT: "x" },
      'error: PLANTSTORE_PORT must be a whole number from 0 to 65535 (got "x")',
    ],
    [{ PLANTSTORE_URL: "nowhere" }, "error: PLANTSTORE_URL must be a URL such as"],
    [{ PLANTSTORE_STORE: "mysql://x" }, "error: PLANTSTORE_STORE is invalid: unknown store type"],
  ])("are reported if they are invalid: %j", async (env, message) => {
    const { exitCode, report, find } = await examine([], { env });
    expect({ exitCode, ok: report.ok }).toEqual({ exitCode: 2, ok: false });
    expect(find("settings").slice(0, message.length)).toBe(message);
  });

  it("are reported if a variable is misspelled", async () => {
    const { find } = await examine([], { env: { PLANTSTORE_PROT: "1", PLANTSTORE_EMPTY: "" } });
    expect(find("variables")).toBe(
      "warning: PLANTSTORE_PROT is unknown and has no effect: check its spelling",
    );
  });

  it("are shown without secrets", async () => {
    const env = {
      PLANTSTORE_STORE: "postgres://gardener:s3cret-word@127.0.0.1:9/plants",
      PLANTSTORE_PUBLIC_URL: "https://user:s3cret-word@plants.example.org",
      PLANTSTORE_TOKEN: mintToken(),
    };
    const { stdout, stderr, find } = await examine([], { env });
    expect(stdout + stderr).not.toContain("s3cret-word");
    expect(stdout + stderr).not.toContain(env.PLANTSTORE_TOKEN);
    expect(find("store")).toMatch(/^error: the store postgres:\/\/127\.0\.0\.1:9\/plants /);
  });
});

describe("doctor checks directories, and", () => {
  it("reports a token that other users can read", async () => {
    await saveCredential(configDirectory, { origin: "http://127.0.0.1:9", token: testToken });
    await chmod(toTokenFile(configDirectory, "http://127.0.0.1:9"), 0o644);
    const { exitCode, find } = await examine();
    expect(exitCode).toBe(2);
    expect(find("config")).toMatch(/^error: others can read the token in .*: run "chmod 600 /);
  });

  it.each([
    [0o750, "read by other users (mode 750)"],
    [0o720, "changed by other users (mode 720)"],
    [0o777, "read and changed by other users (mode 777)"],
  ])("warns about a directory with mode %o", async (mode, problem) => {
    const directories = { config: configDirectory, data: join(home, ".local/share/plantstore") };
    for (const path of Object.values(directories)) {
      await mkdir(path, { recursive: true });
      await chmod(path, mode);
    }
    const { find } = await examine();
    for (const [subject, path] of Object.entries(directories)) {
      expect(find(subject)).toBe(`warning: ${path} can be ${problem}: run "chmod 700 ${path}"`);
    }
  });

  it.runIf(process.geteuid?.() === 0)("warns about a directory of another user", async () => {
    await mkdir(configDirectory, { recursive: true, mode: 0o700 });
    await chown(configDirectory, 12_345, 12_345);
    expect((await examine()).find("config")).toMatch(
      /^warning: \S+ belongs to another user \(ID 12345\), who can change it: run "chown" on it/,
    );
  });

  it.each([
    [0o644, "read by other users (mode 644)"],
    [0o604, "read by other users (mode 604)"],
    [0o620, "changed by other users (mode 620)"],
  ])("warns about a TLS key with mode %o", async (mode, problem) => {
    const key = join(home, "key.pem");
    await writeFile(key, "key");
    await chmod(key, mode);
    const { find } = await examine([], { env: { PLANTSTORE_TLS_KEY: key } });
    expect(find("settings")).toContain(`warning: ${key} can be ${problem}: run "chmod 600 ${key}"`);
  });

  it("reports broken saved settings once for each affected check", async () => {
    await mkdir(configDirectory, { recursive: true });
    await writeFile(toSettingsFile(configDirectory), "{");
    const { exitCode, find } = await examine([], { env: { PLANTSTORE_URL: "" } });
    expect(exitCode).toBe(2);
    expect(find("config")).toMatch(/^error: .* is broken: it contains no saved settings/);
    expect(find("settings")).toMatch(/^error: .* is broken: it contains no saved settings[^\n]*$/);
    expect(find("server")).toBe("");
  });

  it.each(["config", "data"])("reports a file instead of the %s directory", async (subject) => {
    const path = join(home, "file");
    await writeFile(path, "");
    const variable = `PLANTSTORE_${subject.toUpperCase()}_DIR`;
    const found = await examine([], { env: { [variable]: path } });
    expect(found.exitCode).toBe(2);
    expect(found.find(subject)).toBe(
      `error: ${path} (from ${variable}) is not a directory: move it, or use another directory`,
    );
    const below = await examine([], { env: { [variable]: join(path, "below") } });
    expect(below.find(subject)).toContain(
      ` cannot be created, because ${path} is not a directory: `,
    );
  });

  it("reports a missing home directory only if it is needed", async () => {
    const { exitCode, find } = await examine([], { home: "" });
    const sentence = "no home directory: set PLANTSTORE_DATA_DIR to a directory";
    expect(exitCode).toBe(2);
    expect(find("data")).toBe(`warning: ${sentence}`);
    expect(find("settings")).toBe(`error: ${sentence}`);
    await using server = await startServer();
    const options = { home: "", server, env: { PLANTSTORE_STORE: "memory:" } };
    expect(await examine([], options)).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe("doctor checks the store, and", () => {
  it("counts its active tokens", async () => {
    const url = await createSqliteStore([]);
    const store = await openStore(url);
    const token = { prefix: "pst_", name: "", issuedAtMs: 0 };
    await store.addToken({ ...token, digest: "a" });
    await store.addToken({ ...token, digest: "b", expiresAtMs: 1 });
    await store.close();
    const { find } = await examine(["--store", url]);
    expect(find("store")).toBe(`ok: ${url} is sound, with 1 active token`);
  });

  it("warns about a store that others can read, or a directory where they can put files", async () => {
    const store = await createSqliteStore([]);
    const path = store.replace("sqlite:", "");
    await chmod(path, 0o644);
    expect((await examine(["--store", store])).find("store")).toBe(
      `warning: ${path} can be read by other users (mode 644): run "chmod 600 ${path}"`,
    );
    await chmod(path, 0o600);
    const inUse = await openStore(store);
    await inUse.create({ id: 1n, name: "fern" }, "reject");
    await chmod(`${path}-wal`, 0o644);
    expect((await examine(["--store", store])).find("store")).toBe(
      `warning: ${path}-wal can be read by other users (mode 644): run "chmod 600 ${path}-wal"`,
    );
    await inUse.close();
    const link = `${path}.link`;
    await symlink(path, link);
    await chmod(dirname(path), 0o777);
    expect((await examine(["--store", `sqlite:${link}`])).find("store")).toContain(
      `warning: ${dirname(path)} can be changed by other users (mode 777)`,
    );
    await rm(link);
    await chmod(dirname(path), 0o755);
    expect((await examine(["--store", store])).find("store")).toMatch(/^ok: /);
    await chmod(dirname(path), 0o1777);
    expect((await examine(["--store", store])).find("store")).toBe(
      `warning: ${dirname(path)} can be changed by other users: choose a directory of your own`,
    );
    await chmod(dirname(path), 0o777);
    expect((await examine(["--store", store])).find("store")).toBe(
      `warning: ${dirname(path)} can be changed by other users (mode 777): run "chmod go-w ${dirname(path)}"`,
    );
  });

  it("finds damage that opening the store does not find", async () => {
    const plants = Array.from({ length: 2000 }, (_, id) => ({
      id: BigInt(id),
      name: `fern ${id}`,
    }));
    const url = await createSqliteStore(plants);
    const path = url.replace("sqlite:", "");
    const bytes = await readFile(path);
    const pageBytes = 4096;
    bytes.fill(0xff, bytes.length - pageBytes);
    await writeFile(path, bytes);
    const { exitCode, find } = await examine(["--store", url]);
    expect(exitCode).toBe(2);
    expect(find("store")).toMatch(/^error: the store .* is damaged: restore an intact backup/);
  });

  it("reports a file of another program", async () => {
    const path = join(home, "notes.txt");
    await writeFile(path, "not a database at all");
    const { exitCode, find } = await examine(["--store", `sqlite:${path}`]);
    expect(exitCode).toBe(2);
    expect(find("store")).toMatch(/^error: the store .* is not a SQLite database/);
  });

  it("reports a path below a file", async () => {
    const path = join(home, "file");
    await writeFile(path, "");
    const { find } = await examine(["--store", `sqlite:${path}/below/plants.db`]);
    expect(find("store")).toBe(
      `warning: sqlite:${path}/below/plants.db does not exist and cannot be created, because ${path} is not a directory: choose another path`,
    );
  });

  it("does not check memory:", async () => {
    const { find } = await examine(["--store", "memory:"]);
    expect(find("store")).toBe("ok: memory: exists only inside its server");
  });
});

describe("doctor checks the server, the token and the clock, and finds", () => {
  it("no server, which is the only error without a saved token", async () => {
    const { exitCode, find, report } = await examine();
    expect(exitCode).toBe(6);
    expect(find("server")).toMatch(/^error: cannot connect to /);
    expect(find("token")).toBe("none: none is saved for this URL");
    expect(report.checks.filter(({ state }) => state === "error")).toHaveLength(1);
  });

  it("no server", async () => {
    const { exitCode, find } = await examine([], { server: { url: closedUrl } });
    expect(exitCode).toBe(6);
    expect(find("server")).toMatch(
      /^error: cannot connect to .*: connection refused: start a server with "plantstore serve"/,
    );
    expect(find("token")).toBe("none: not checked, because the server check failed");
    expect(find("clock")).toMatch(/^none: .*Z; the server's time is unknown$/);
  });

  it("no token: the server is known all the same", async () => {
    await using server = await startServer();
    const { exitCode, find } = await examine([], { env: { PLANTSTORE_URL: server.url } });
    expect(exitCode).toBe(4);
    expect(find("server")).toBe(`ok: ${server.url} is a plant store`);
    expect(find("token")).toMatch(
      /^error: no token for .*: the server printed its token .* "plantstore login --url \S+"/,
    );
  });

  it("a wrong path, which is not about the token", async () => {
    await using server = await startServer();
    const url = `${server.url}/v2`;
    const { exitCode, find } = await examine([], { server: { url } });
    expect(exitCode).toBe(7);
    expect(find("server")).toBe(
      `error: ${url} is not the URL of a plant store: error 40400: unknown path "/v2/plants": create plants with POST /plants: use --url ${server.url}`,
    );
    expect(find("token")).toBe("none: not checked, because the server check failed");
    expect(find("clock")).toMatch(/^ok: /);
  });

  it("a rejected token", async () => {
    await using server = await startServer();
    const env = { PLANTSTORE_TOKEN: mintToken() };
    const { exitCode, find } = await examine([], { server, env });
    expect(exitCode).toBe(4);
    expect(find("server")).toMatch(/^ok: /);
    expect(find("token")).toMatch(
      /^error: pst_....… from PLANTSTORE_TOKEN: rejected, error 40102: /,
    );
  });

  it("a clock that differs from the server's", async () => {
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    const server = await openScriptedServer(errorResponse(42201, { date }));
    const { exitCode, find } = await examine([], { server });
    expect(exitCode).toBe(0);
    expect(find("clock")).toMatch(/^warning: .*Z, 60 min ahead of the server's: set it, or /);
  });

  it("a server that accepts the token but whose storage fails", async () => {
    const server = await openScriptedServer(
      errorResponse(40100),
      errorResponse(42201),
      json(503, '{"error":50700,"message":"the storage is full"}'),
    );
    const { exitCode, find } = await examine([], { server: { url: `${server.url}/v1` } });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v1/plants",
      "POST /v1/plants",
      "GET /readyz",
    ]);
    expect(exitCode).toBe(6);
    expect(find("server")).toMatch(/cannot accept plants now: error 50700: the storage is full$/);
    expect(find("token")).toBe("ok: accepted by the server");
  });

  it.each<[what: string, respond: Responder]>([
    ["a missing page", json(404, "<h1>")],
    ["a page of a proxy", json(503, "<h1>")],
    ["other JSON", json(200, "[]")],
    ["a lost connection", (response) => void response.destroy()],
  ])("no problem of a server behind a proxy if /readyz is %s", async (_what, respond) => {
    const server = await openScriptedServer(errorResponse(40100), errorResponse(42201), respond);
    const { find } = await examine([], { server });
    expect(find("server")).toMatch(/^ok: /);
  });

  it.each([
    ["another server", json(200, "{}")],
    ["a plant store at another path", errorResponse(40400)],
  ])("%s, which never gets the token", async (_what, respond) => {
    const server = await openScriptedServer(respond);
    const { exitCode, find } = await examine([], { server });
    expect(exitCode).toBe(7);
    expect(find("token")).toMatch(/^none: not checked/);
    expect(server.requests.length).toBeGreaterThan(0);
    for (const { headers } of server.requests) expect(headers).not.toHaveProperty("authorization");
  });

  it("a server that cannot accept plants, without a check of the token", async () => {
    const server = await openScriptedServer(errorResponse(50301));
    const { exitCode, find } = await examine([], { server });
    expect(exitCode).toBe(6);
    expect(find("server")).toMatch(/cannot accept plants now: error 50301: message of 50301$/);
    expect(find("token")).toMatch(/^none: not checked/);
  });
});

describe("the output of doctor", () => {
  it.each([80, 60, 40])("fits a terminal of %i columns", async (columns) => {
    const env = { PLANTSTORE_URL: closedUrl, NO_COLOR: "1" };
    const options = { home: "/h", env, terminals: allTerminals, columns };
    const { stdout } = await runCli(["doctor"], options);
    const wide = stdout.split("\n").filter((line) => line.length > columns);
    // The terminal breaks a word that is longer than a line.
    expect(wide.filter((line) => line.trim().includes(" "))).toEqual([]);
  });

  it("has colour only on a terminal", async () => {
    const options = { home, env: { PLANTSTORE_URL: closedUrl }, terminals: allTerminals };
    expect((await runCli(["doctor"], options)).stdout).toContain("\u001b[");
    expect((await runCli(["doctor"], { ...options, terminals: {} })).stdout).not.toContain(
      "\u001b[",
    );
  });

  it("ends on Ctrl-C during the wait for a server", async () => {
    let connected = (): void => {};
    const connection = new Promise<void>((resolve) => (connected = resolve));
    const url = await openRawServer(() => connected());
    const run = startCli(["doctor"], { home, server: { url } });
    await connection;
    expect(run.signal("SIGINT")).toBe(true);
    const result = await run.finished;
    expect(result).toExit(130, "error: stopped by SIGINT\n", /^ok +plantstore /);
  });
});
