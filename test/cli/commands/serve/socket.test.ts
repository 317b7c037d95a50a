/** `plantstore serve` at a Unix socket, or at a socket that systemd passed to it. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { listSavedOrigins } from "../../../helpers/credentials.ts";
import { containing, runCli, startCli } from "../../../helpers/run-cli.ts";
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
    const path = inHome("plants.sock");
    const url = `unix:${path}${basePath && `:${basePath}`}`;
    const env = { PLANTSTORE_BASE_PATH: basePath };
    const run = await serve(["--socket", path], { env });
    expect(await listSavedOrigins(configPath())).toEqual([`unix:${path}`]);
    expect(await createFern(url)).toMatchObject({ exitCode: 0 });
    const { stdout, stderr } = await run.stop();
    expect(stdout).toBe(`${url}\n`);
    expect(stderr).toContain("Token: new, saved for this user");
  });

  it.each(["plants:1.sock", "a:/plants.sock"])("saves no token without a URL: %j", async (name) => {
    const path = inHome(name);
    await mkdir(dirname(path), { recursive: true });
    expect(await serveOnce(["--socket", path])).toMatchObject({ url: `unix:${path}`, exitCode: 0 });
    expect(existsSync(configPath())).toBe(false);
  });

  it("reports another file at its path", async () => {
    await writeFile(inHome("file"), "");
    const args = ["serve", "--socket", inHome("file"), "--store", "memory:"];
    expect(await runCli(args, { home: inHome() })).toExit(
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

it("says what the directory of a Unix socket must be", async () => {
  const path = inHome("missing", "plants.sock");
  const problem = `not permitted to listen on ${path}: choose `;
  expect(await failToServe(["--socket", path])).toExit(1, containing(problem));
});
