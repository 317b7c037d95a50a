/** A checkout of the repository. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { killGroup } from "../helpers/kill-group.ts";
import { copyCheckout } from "../helpers/pack.ts";
import { run } from "../helpers/run.ts";

let directory: string;
let checkout: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "plantstore-test-"));
  checkout = join(directory, "checkout");
  await copyCheckout(checkout);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function toOptions() {
  const home = join(directory, "home");
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    npm_config_offline: "true",
    npm_config_update_notifier: "false",
  };
  return { cwd: checkout, env };
}

/** Starts a process with children; all of them are killed when the test ends. */
function startGroup(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  const options = toOptions();
  const child = spawn(command, args, {
    ...options,
    env: { ...options.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => killGroup(child));
  return child;
}

/** Kills a build before it writes its last file. */
const killAtEnd = `
  const fs = require("node:fs");
  const { writeFileSync } = fs;
  fs.writeFileSync = (path, ...others) => {
    if (String(path).endsWith("build.json")) process.kill(process.pid, "SIGKILL");
    writeFileSync(path, ...others);
  };
  require("node:module").syncBuiltinESMExports();
`;

/** Returns a value that changes with each build. */
async function readBuild(): Promise<string> {
  const path = join(checkout, "dist/build.json");
  const { ino, mtimeMs } = await stat(path);
  return `${ino} ${mtimeMs} ${await readFile(path, "utf8")}`;
}

it("npm start builds the service and starts it with the given options", async () => {
  const { stdout } = startGroup("npm", ["start", "--", "--port", "0", "--store", "memory:"], {
    PLANTSTORE_TOKEN: "chosen",
  });
  if (stdout === null) throw new Error("stdout is piped");
  for await (const line of createInterface({ input: stdout })) {
    if (!line.startsWith("http")) continue;
    expect((await fetch(`${line}/readyz`)).status).toBe(200);
    return;
  }
  expect.unreachable();
}, 300_000);

it("the script prepare prints nothing", async () => {
  const ran = await run(process.execPath, [".build/build.js"], toOptions());
  expect(ran).toEqual({ stdout: "", stderr: "" });
}, 300_000);

it("npx uses the build without building again", async () => {
  await run("npm", ["run", "build"], toOptions());
  const before = await readBuild();
  const { stdout } = await run("npx", ["plantstore", "--version"], toOptions());
  expect(stdout).toContain("plantstore 1.0.0");
  expect(await readBuild()).toBe(before);
}, 300_000);

it("the next build restores a removed file of the build", async () => {
  await run("npm", ["run", "build"], toOptions());
  await rm(join(checkout, "dist/main.js"));
  await run("npm", ["run", "build"], toOptions());
  expect(await readdir(join(checkout, "dist"))).toContain("main.js");
}, 300_000);

it("a killed build leaves the old one, and the next build completes", async () => {
  await run("npm", ["run", "build"], toOptions());
  const before = await readBuild();
  await appendFile(join(checkout, "src/index.ts"), "\n// Changed.\n");
  const killer = join(directory, "killer.cjs");
  await writeFile(killer, killAtEnd);
  const env = { NODE_OPTIONS: `--require ${killer}` };
  const child = startGroup(process.execPath, [".build/build.js"], env);
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  expect(await readdir(join(checkout, `dist.new-${child.pid}`))).not.toEqual([]);
  expect(await readBuild()).toBe(before);

  await run("npm", ["run", "build"], toOptions());
  expect(await readBuild()).not.toBe(before);
  expect((await readdir(checkout)).filter((name) => name.startsWith("dist.new"))).toEqual([]);
}, 300_000);

it("two builds at once both succeed, and leave one complete dist", async () => {
  await appendFile(join(checkout, "src/index.ts"), "\n// Changed for two builds.\n");
  const builds = [1, 2].map(() => run(process.execPath, [".build/build.js"], toOptions()));
  expect(await Promise.all(builds)).toEqual([
    { stdout: "", stderr: "" },
    { stdout: "", stderr: "" },
  ]);
  const { files } = JSON.parse(await readFile(join(checkout, "dist/build.json"), "utf8")) as {
    files: string[];
  };
  expect(await readdir(join(checkout, "dist"), { recursive: true })).toEqual(
    expect.arrayContaining(["main.js", "browser/client.js", ...files]),
  );
  expect((await readdir(checkout)).filter((name) => name.startsWith("dist."))).toEqual([]);
}, 300_000);
