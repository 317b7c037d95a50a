/** `serve` as a child of real npm processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const binary = new URL("../../bin/plantstore.js", import.meta.url);

interface NpmRun {
  readonly npm: ChildProcess;
  readonly url: string;
  /** Process ID of the server. */
  readonly processId: number;
}

/** Starts npm in a package whose program is the built command; the program writes its process ID to a file. */
async function startNpm(
  command: string,
  args: readonly string[],
  name = "plantstore",
): Promise<NpmRun> {
  const home = await createTemporaryDirectory();
  const program = join(home, "program.js");
  const scripts = { start: "node program.js serve --port 0 --store memory:" };
  const manifest = { name, version: "1.0.0", bin: { [name]: "program.js" }, scripts };
  await writeFile(join(home, "package.json"), JSON.stringify(manifest));
  const lines = [
    "#!/usr/bin/env node",
    `require("node:fs").writeFileSync(${JSON.stringify(join(home, "pid"))}, String(process.pid));`,
    `import(${JSON.stringify(fileURLToPath(binary))});`,
  ];
  await writeFile(program, lines.join("\n"));
  await chmod(program, 0o755);
  const npm = spawn(command, args, {
    cwd: home,
    env: {
      HOME: home,
      PATH: process.env["PATH"] ?? "",
      PLANTSTORE_TOKEN: "chosen",
      npm_config_cache: join(home, "cache"),
      npm_config_update_notifier: "false",
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let stdout = "";
  npm.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  onTestFinished(async () => {
    npm.kill("SIGKILL");
    const processId = Number(await readFile(join(home, "pid"), "utf8").catch(() => ""));
    if (processId > 0 && isRunning(processId)) process.kill(processId, "SIGKILL");
  });
  const urlLine = /^(http:\S+)\n/m;
  await expect.poll(() => stdout).toMatch(urlLine);
  const [, url = ""] = urlLine.exec(stdout) ?? [];
  return { npm, url, processId: Number(await readFile(join(home, "pid"), "utf8")) };
}

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

describe.each<[what: string, command: string, args: readonly string[]]>([
  ["npm start", "npm", ["start", "--silent"]],
  [
    "npx plantstore",
    "npx",
    ["--yes", "--offline", "plantstore", "serve", "--port", "0", "--store", "memory:"],
  ],
])("the server of %s", (_what, command, args) => {
  it("ends with npm, which passes no SIGTERM on", async () => {
    const { npm, url, processId } = await startNpm(command, args);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    npm.kill("SIGTERM");
    await expect.poll(() => isRunning(processId)).toBe(false);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
  });
});

it("the server of a user's own npm script survives npm", async () => {
  const args = ["start", "--silent"];
  const own = await startNpm("npm", args, "greenhouse");
  const watching = await startNpm("npm", args);
  const npmEnd = once(own.npm, "exit");
  own.npm.kill("SIGTERM");
  await npmEnd;
  // A server that watches its npm would end before this one.
  watching.npm.kill("SIGTERM");
  await expect.poll(() => isRunning(watching.processId)).toBe(false);
  expect((await fetch(`${own.url}/healthz`)).status).toBe(200);
});
