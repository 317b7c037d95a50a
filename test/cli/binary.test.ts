import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const binary = new URL("../../bin/plantstore.js", import.meta.url).href;

/** Loads the command in a Node that claims to be another version. */
async function loadAs(version: string): Promise<{ stderr: string; code: number }> {
  const script = `
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
    process.argv.push("--version");
    await import("${binary}");
  `;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  return run.then(
    ({ stderr }) => ({ stderr, code: 0 }),
    (error: unknown) => error as { stderr: string; code: number },
  );
}

it.each([
  "10.24.1",
  "18.20.8",
  "20.19.6",
  "20.20.1",
  "21.7.3",
  "22.22.1",
  "23.11.1",
  "24.0.0",
  "24.14.0",
  "25.8.1",
])("rejects Node %s with one line that names the supported versions", async (version) => {
  const { stderr, code } = await loadAs(version);
  expect(code).toBe(1);
  expect(stderr).toBe(
    `error: plantstore needs Node.js 20.20.2, 22.22.2, 24.14.1 or 25.8.2, or a later version of these lines, or 26 or later (this is ${version}). See https://nodejs.org\n`,
  );
});

it.each(["20.20.2", "22.22.2", "22.23.0", "24.14.1", "25.8.2", "26.0.0"])(
  "runs on Node %s",
  async (version) => {
    expect(await loadAs(version)).toEqual({ stderr: "", code: 0 });
  },
);

it("supports the versions that the package names", () => {
  expect(manifest.engines).toEqual({ node: "^20.20.2 || ^22.22.2 || ^24.14.1 || >=25.8.2" });
});

/** Copies parts of the package. @returns the directory of the copy */
async function copyPackage(...names: readonly string[]): Promise<string> {
  const copy = await createTemporaryDirectory();
  for (const name of names) {
    const path = fileURLToPath(new URL(`../../${name}`, import.meta.url));
    await cp(path, join(copy, name), { recursive: true });
  }
  return copy;
}

/** Runs a copy of the program with an incomplete build. @param files of its dist */
async function runIncomplete(files: Readonly<Record<string, string>>) {
  const copy = await copyPackage("bin", "package.json");
  await mkdir(join(copy, "dist"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(copy, "dist", name), text);
  return promisify(execFile)(process.execPath, [join(copy, "bin/plantstore.js"), "--help"]);
}

it("says how to build the command if it is not built", async () => {
  await expect(runIncomplete({})).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: "error: plantstore is not built: run npm run build\n",
  });
});

it("names the file that a build lacks, which is a bug", async () => {
  await expect(runIncomplete({ "main.js": 'import "./missing.js";' })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/ERR_MODULE_NOT_FOUND[^]*missing\.js/) as string,
  });
});

it("reports an error if another version has replaced the file that explains errors", async () => {
  const copy = await copyPackage("bin", "dist", "package.json");
  const dist = join(copy, "dist");
  for (const name of (await readdir(dist)).filter((each) => each.endsWith(".js"))) {
    const text = await readFile(join(dist, name), "utf8");
    if (text.includes("this is a bug in plantstore")) await rm(join(dist, name));
  }
  const args = [join(copy, "bin/plantstore.js"), "completion", "tcsh"];
  await expect(promisify(execFile)(process.execPath, args)).rejects.toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(
      /^error: no completion for "tcsh": [^\n]*\nSee [^\n]*\n$/,
    ) as string,
  });
});

describe("a worker of node:cluster", () => {
  /** Starts `serve` as a worker, and sends it SIGTERM once it serves. @returns its output and its end */
  async function runWorker(args: readonly string[]): Promise<string> {
    const script = `
      const cluster = require("node:cluster");
      cluster.setupPrimary({ exec: "${fileURLToPath(binary)}", args: ${JSON.stringify(args)}, execArgv: [], silent: true });
      const worker = cluster.fork();
      const limit = setTimeout(() => worker.process.kill("SIGKILL"), 60_000);
      worker.process.stdout.once("data", (url) => {
        // In flight at the stop: its body never ends.
        const socket = require("node:net").connect(new URL(String(url)).port, "127.0.0.1", () => {
          socket.write("POST /plants HTTP/1.1\\r\\nHost: a\\r\\nAuthorization: Bearer ${token}\\r\\n" +
            "Content-Type: application/json\\r\\nContent-Length: 9\\r\\n\\r\\n{");
          setTimeout(() => worker.process.kill("SIGTERM"), 200);
        });
        socket.resume().on("error", () => {});
      });
      worker.on("exit", (code, signal) => { clearTimeout(limit); console.log(code, signal); });
    `;
    const env = { ...process.env, HOME: await createTemporaryDirectory(), PLANTSTORE_TOKEN: token };
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", script], { env });
    return stdout.trim();
  }
  const token = "chosen-token-0123456789";
  const args = ["serve", "--port", "0", "--store", "memory:", "--shutdown-timeout", "500ms"];

  it("ends after SIGTERM, although its primary runs on", async () => {
    expect(await runWorker(args)).toBe("0 null");
  });

  it("ends if it cannot start", async () => {
    expect(await runWorker([...args, "--tls-cert", "missing.pem"])).toBe("2 null");
  });
});
