/** The packed package, installed into an empty folder without a network and without scripts. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { findFreePort } from "../helpers/postgres-server.ts";
import { copyCheckout, pack, packCheckout } from "../helpers/pack.ts";
import { root, run } from "../helpers/run.ts";

/** The part of esbuild's metafile that the tests read. */
interface Bundled {
  readonly outputs: Readonly<
    Record<
      string,
      { readonly bytes: number; readonly imports: readonly { path: string; kind: string }[] }
    >
  >;
}

/** Holds the tarball, and folders that it is installed in. */
let directory: string;
let tarball: string;
/** Directory of the installation: its path has a space and letters beyond ASCII. */
let project: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "plantstore-test-"));
  tarball = await pack(directory);
  project = join(directory, "mönstera 盆栽 & fern");
  await install(project);
  // A registry would provide it.
  for (const name of ["@photostructure/sqlite", "node-gyp-build"]) {
    const copy = join(project, "node_modules", name);
    await cp(join(root, "node_modules", name), copy, { recursive: true });
  }
}, 120_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs npm without this machine's settings, cache and network. */
function npm(args: readonly string[], cwd: string) {
  return run("npm", args, {
    cwd,
    env: {
      ...cleanEnv(),
      npm_config_cache: join(directory, "cache"),
      npm_config_offline: "true",
      npm_config_update_notifier: "false",
    },
  });
}

/** Node under test comes first, as its scripts begin with `#!/usr/bin/env node`. */
function cleanEnv(): Record<string, string> {
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  return { PATH: path, HOME: join(directory, "home"), USERPROFILE: join(directory, "home") };
}

/** Installs the tarball into an empty folder. */
async function install(folder: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), '{"private":true,"type":"module"}');
  await npm(["install", tarball], folder);
}

/** Starts the installed command. */
function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = project,
): ChildProcess {
  const command = join(cwd, "node_modules/.bin/plantstore");
  const child = spawn(command, args, {
    cwd,
    env: { ...cleanEnv(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Waits for the end of a process. */
async function finish(child: ChildProcess) {
  const outputs = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (outputs.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (outputs.stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...outputs };
}

/** Serves at a chosen port, so that the token of a durable store is saved, creates a plant, and stops. @returns the result of the create, and the exit code of serve */
async function serveAndCreate(
  serveArgs: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = project,
) {
  const port = await findFreePort();
  const server = start(["serve", "--port", String(port), ...serveArgs], env, cwd);
  const stopped = finish(server);
  if (server.stdout === null) throw new Error("its stdout is piped");
  const lines = createInterface({ input: server.stdout });
  const url = await Promise.race([
    once(lines, "line").then(([line]: string[]) => line ?? ""),
    stopped.then(({ stderr }) => {
      throw new Error(`serve ended: ${stderr}`);
    }),
  ]);
  const fern = ["create", "--id", "1", "--name", "fern"];
  const created = await finish(start(fern, { ...env, PLANTSTORE_URL: url }, cwd));
  server.kill("SIGTERM");
  return { created, served: (await stopped).code };
}

const done = { created: { code: 0, stdout: '{"name":"fern"}\n', stderr: "" }, served: 0 };

describe("the tarball", () => {
  it("contains only the files that are used", async () => {
    const { stdout } = await run("tar", ["--list", "--file", tarball]);
    const paths = stdout.split("\n").flatMap((path) => path.replace("package/", "") || []);
    expect(paths).toEqual(
      expect.arrayContaining([
        ".github/CHANGELOG.md",
        "LICENSE",
        "README.md",
        "package.json",
        "bin/plantstore.js",
        "dist/THIRD-PARTY-LICENSES.txt",
        "dist/browser/client.js",
        "dist/client.cjs",
        "dist/client.d.cts",
        "dist/client.d.ts",
        "dist/client.js",
        "dist/index.cjs",
        "dist/index.d.cts",
        "dist/index.d.ts",
        "dist/index.js",
        "dist/main.js",
        "dist/page.browser.js",
        "dist/page.css",
        "dist/page.html",
        "dist/plants.browser.js",
        "dist/plants.html",
        "dist/sqlite-worker.js",
        "src/manual/storage.md",
      ]),
    );
    const known =
      /^(?:\.github\/CHANGELOG\.md|LICENSE|README\.md|package\.json|bin\/plantstore\.js|dist\/(?:(?:browser\/)?[\w.-]+\.js|(?:page|plants)\.(?:html|css)|[\w.-]+\.d\.c?ts|(?:index|client)\.cjs|THIRD-PARTY-LICENSES\.txt|sbom\.cdx\.json|[\w-]+\.[17])|src\/manual\/(?:[\w-]+\.md|alerts\.yaml|dashboard\.json))$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
  });

  it("has the same modes for every user: only the command is executable", async () => {
    const { stdout } = await run("tar", ["--list", "--verbose", "--file", tarball]);
    const modes = stdout
      .trim()
      .split("\n")
      .map((line) => `${line.slice(0, 10)} ${line.split(" ").at(-1)}`);
    const others = modes.filter((line) => !line.startsWith("-rw-r--r-- "));
    expect(others).toEqual(["-rwxr-xr-x package/bin/plantstore.js"]);
  });

  it("is smaller than a megabyte", async () => {
    expect((await stat(tarball)).size).toBeLessThan(1_000_000);
  });

  it("runs no install script, and has no dependency but the SQLite that only Node 20 lacks", async () => {
    const path = join(project, "node_modules/plantstore/package.json");
    const manifest = JSON.parse(await readFile(path, "utf8")) as Record<string, object>;
    expect(manifest["scripts"]).toBeUndefined();
    expect(manifest["dependencies"]).toBeUndefined();
    expect(manifest["devDependencies"]).toBeUndefined();
    expect(manifest["optionalDependencies"]).toBeUndefined();
    expect(manifest["peerDependencies"]).toEqual({ "@photostructure/sqlite": "^1.2.1" });
    expect(manifest["peerDependenciesMeta"]).toEqual({
      "@photostructure/sqlite": { optional: true },
    });
  });
});

// The tarball of a release has no checkout here.
describe.runIf(process.env["PLANTSTORE_TARBALL"] === undefined)("the checkout", () => {
  it("has only ignored files more after the package was packed from it", async () => {
    const checkout = join(directory, "checkout");
    const added = (await readdir(checkout)).filter((name) => !existsSync(join(root, name)));
    const { stdout } = await run("git", ["check-ignore", "--no-index", ...added], { cwd: root });
    expect(stdout.trim().split("\n")).toEqual(added);
    for (const name of ["package.json", "package-lock.json"]) {
      const [before, after] = [root, checkout].map((path) => readFile(join(path, name), "utf8"));
      expect(await after).toBe(await before);
    }
  });

  it("gives the same bytes when it is built again, elsewhere and with other permissions", async () => {
    const tarballs = ["022", "077"].map(async (umask) => {
      const checkout = join(directory, `umask-${umask}`);
      await copyCheckout(checkout);
      await run("sh", ["-c", `umask ${umask} && npm run build`], { cwd: checkout });
      return readFile(join(checkout, await packCheckout(checkout)));
    });
    const [first, second] = await Promise.all(tarballs);
    expect(second?.equals(first ?? Buffer.of())).toBe(true);
  });

  it("names its repository in the package if a workflow packs it", async () => {
    const checkout = join(directory, "checkout");
    const env = {
      ...process.env,
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "example/plantstore",
    };
    await run("npm", ["run", "stage"], { cwd: checkout, env });
    expect(
      JSON.parse(await readFile(join(checkout, ".package/package.json"), "utf8")),
    ).toMatchObject({
      repository: { type: "git", url: "git+https://github.com/example/plantstore.git" },
    });
  });
});

describe("installed, in a path with spaces and letters beyond ASCII", () => {
  it("serves from a file, and creates", async () => {
    expect(await serveAndCreate([], {})).toEqual(done);
  });

  it("works with NODE_OPTIONS of other programs", async () => {
    const preloaded = join(directory, "preloaded.cjs");
    await writeFile(preloaded, "globalThis.preloaded = true;");
    const others = "--throw-deprecation --pending-deprecation --enable-source-maps";
    const env = {
      NODE_OPTIONS: `--require ${preloaded} ${others} --max-old-space-size=512`,
      PLANTSTORE_TOKEN: "chosen-in-ci",
    };
    expect(await serveAndCreate(["--store", "memory:"], env)).toEqual(done);
  });

  it("is a library with types", async () => {
    const program = `
      import { createClient, startPlantStore, type CreateResponse } from "plantstore";
      const plants = await startPlantStore();
      const response: CreateResponse = await createClient(plants).create({ id: 1n, name: "fern" });
      if (response.ok) console.log(response.plant.name);
      await plants.close();
    `;
    const types = join(project, "node_modules/@types/node");
    await mkdir(dirname(types), { recursive: true });
    await symlink(join(root, "node_modules/@types/node"), types, "junction");
    await writeFile(join(project, "program.ts"), program);
    // Each exported value has a type that TypeScript must be able to name.
    const consumer = `
      import { createClient, startPlantStore, StoppedError, type PlantStoreOptions } from "plantstore";
      export const start = (token?: string) => startPlantStore({ token: token === "" ? undefined : token });
      export const client = createClient({ url: "http://a", token: "b", timeoutMs: undefined, ca: undefined });
      export const create = client.create;
      export const created = (signal: AbortSignal | undefined) =>
        client.create({ id: 1n, name: "fern", tag: undefined }, { signal });
      export const many = (signal: AbortSignal | undefined) => client.createMany([], { signal, concurrency: undefined });
      export async function firstFailed() {
        for await (const result of many(undefined)) if ("error" in result) return result;
        return undefined;
      }
      export const errorOf = (failed: Awaited<ReturnType<typeof firstFailed>>) => failed?.error;
      export const causeOf = (error: StoppedError) => error.cause;
      export const seedOf = async () => (await start()).seed([]);
      export const faultsOf = (options: PlantStoreOptions) => options.faults;
      export const optionsOf = (options: PlantStoreOptions) => ({ ...options, faults: { failRate: undefined } });
      export const membersOf = async () => ({ ...(await start()) });
    `;
    await writeFile(join(project, "consumer.ts"), consumer);
    const flags =
      "--strict --exactOptionalPropertyTypes --declaration --module nodenext --target es2022 --lib es2022,esnext.disposable";
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [tsc, ...flags.split(" "), "program.ts", "consumer.ts"], {
      cwd: project,
    });
    const { stdout } = await run(process.execPath, ["program.js"], { cwd: project });
    expect(stdout).toBe("fern\n");
  });

  it("is a library for CommonJS as well", async () => {
    const program = `
      const { createClient, startPlantStore } = require("plantstore");
      startPlantStore().then(async (plants) => {
        const response = await createClient(plants).create({ id: 1n, name: "fern" });
        console.log(response.plant.name);
        await plants.close();
      });
    `;
    const { stdout } = await run(process.execPath, ["-e", program], { cwd: project });
    expect(stdout).toBe("fern\n");
  });
});

describe("installed without the package of SQLite", () => {
  let alone: string;
  let dataDirectory: string;

  beforeAll(async () => {
    alone = join(directory, "alone");
    await install(alone);
    dataDirectory = join(directory, "alone-data");
    await mkdir(dataDirectory, { mode: 0o700 });
    const program = `
      import { startPlantStore } from "plantstore";
      await (await startPlantStore({ store: "sqlite:" + process.argv[1] })).close();
    `;
    const args = ["--input-type=module", "-e", program, join(dataDirectory, "plants.db")];
    await run(process.execPath, args, { cwd: project });
  });

  it("serves from memory, and creates", async () => {
    const env = { PLANTSTORE_TOKEN: "chosen-in-ci" };
    expect(await serveAndCreate(["--store", "memory:"], env, alone)).toEqual(done);
  });

  // Newer versions of Node have SQLite.
  it
    .runIf(!isBuiltin("node:sqlite"))
    .each([
      "serve --port 0",
      "list",
      "get 1",
      "export",
      "delete 1 --yes",
      "token issue --name ci",
      "token list",
      "token revoke ci",
      "backup copy.db",
      "verify PLANTS",
      "restore PLANTS --store sqlite:restored.db",
    ])("reports what to install on Node 20: %s", async (command) => {
    const plants = join(dataDirectory, "plants.db");
    const words = command.split(" ").map((word) => word.replace("PLANTS", plants));
    const env = { PLANTSTORE_DATA_DIR: dataDirectory };
    const { stderr, ...end } = await finish(start(words, env, alone));
    expect(end).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("\nFor example:\n  npm install @photostructure/sqlite@1\n");
  });

  it.runIf(!isBuiltin("node:sqlite"))("reports it in a program on Node 20", async () => {
    const program = `
      import { startPlantStore } from "plantstore";
      const error = await startPlantStore({ store: "sqlite:new.db" }).catch((error) => error);
      console.log(error.name, error.reason, error.message, error.command);
    `;
    const args = ["--input-type=module", "-e", program];
    const { stdout } = await run(process.execPath, args, { cwd: alone });
    expect(stdout).toMatch(/^StoreError failed SQLite is missing.* npm install @photostructure/);
  });
});

describe("bundled", () => {
  /** The program of the tests: prints the plant that it creates. */
  const program = `
    import { createClient, startPlantStore } from "plantstore";
    const plants = await startPlantStore();
    const response = await createClient(plants).create({ id: 1n, name: "fern" });
    console.log(response.plant.name);
    await plants.close();
  `;
  let manual: string;

  beforeAll(async () => {
    manual = await readFile(join(root, "src/manual/library.md"), "utf8");
    await writeFile(join(project, "program.js"), program);
  });

  /** Starts a server. @returns its URL and a token */
  async function startMemoryServer(): Promise<readonly [url: string, token: string]> {
    const env = { PLANTSTORE_TOKEN: "chosen-in-ci" };
    const server = start(["serve", "--ephemeral"], env);
    if (server.stdout === null) throw new Error("its stdout is piped");
    const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    return [url, env.PLANTSTORE_TOKEN];
  }

  /** Runs a bundler of this repository in the project. */
  function runBundler(name: string, args: readonly string[]) {
    return run(join(root, "node_modules/.bin", name), args, { cwd: project });
  }

  it("works with esbuild as the manual says", async () => {
    const [, args = ""] = /^npx esbuild ((?:.*\\\n)*.*)$/m.exec(manual) ?? [];
    await runBundler("esbuild", args.split(/[\s\\]+/));
    const { stdout } = await run(process.execPath, ["out/program.mjs"], { cwd: project });
    expect(stdout).toBe("fern\n");
  });

  it("works with Vite as the manual says", async () => {
    const [, config = ""] = /^```js\n(.*?)^```$/ms.exec(manual) ?? [];
    await writeFile(join(project, "vite.config.js"), config);
    await runBundler("vite", ["build", "--logLevel", "warn"]);
    const { stdout } = await run(process.execPath, ["out/program.js"], { cwd: project });
    expect(stdout).toBe("fern\n");
  });

  it("is small as a client, and loads undici only for createMany", async () => {
    const client = `
      import { createClient } from "plantstore/client";
      const [url, token, isBulk] = process.argv.slice(2);
      const client = createClient({ url, token });
      const fern = { id: 1n, name: "fern" };
      if (isBulk) for await (const { plant } of client.createMany([fern])) console.log(plant.name);
      else console.log((await client.create(fern)).plant.name);
    `;
    await writeFile(join(project, "client.js"), client);
    const flags = "--bundle --platform=node --format=esm --splitting --outdir=out/client";
    const named = "--out-extension:.js=.mjs --metafile=out/client.json --log-level=error";
    await runBundler("esbuild", ["client.js", ...flags.split(" "), ...named.split(" ")]);
    const metafile = await readFile(join(project, "out/client.json"), "utf8");
    const { outputs } = JSON.parse(metafile) as Bundled;
    const loaded = new Set(["out/client/client.mjs"]);
    for (const file of loaded) {
      const imports = outputs[file]?.imports ?? [];
      for (const { path, kind } of imports) if (kind === "import-statement") loaded.add(path);
    }
    const sizes = [...loaded].map((file) => outputs[file]?.bytes ?? 0);
    expect(sizes.reduce((sum, bytes) => sum + bytes)).toBeLessThanOrEqual(250_000);

    const memory = await startMemoryServer();
    const entry = join(project, "out/client/client.mjs");
    const undici = Object.keys(outputs).filter((file) => (outputs[file]?.bytes ?? 0) > 250_000);
    expect(undici).toHaveLength(1);
    const bulk = await run(process.execPath, [entry, ...memory, "bulk"], { cwd: project });
    expect(bulk.stdout).toBe("fern\n");
    await rm(join(project, undici[0] ?? ""));
    const single = await run(process.execPath, [entry, ...memory], { cwd: project });
    expect(single.stdout).toBe("fern\n");
  });

  it.each([
    ["an ES module", "esm", "program.js"],
    ["CommonJS", "cjs", "program.cjs.js"],
  ])("reports in %s that plantstore must be external", async (_, format, source) => {
    const inFunction = `${program.replace("const plants", "async function main() {\nconst plants")}}\nmain();`;
    await writeFile(join(project, "program.cjs.js"), inFunction);
    const outfile = `out/bundled.${format === "esm" ? "mjs" : "cjs"}`;
    const native = "--external:@photostructure/sqlite";
    const flags = `--bundle --platform=node --format=${format} --log-level=error`;
    await runBundler("esbuild", [source, ...flags.split(" "), native, `--outfile=${outfile}`]);
    const failed = run(process.execPath, [outfile], { cwd: project });
    await expect(failed).rejects.toMatchObject({
      stderr: expect.stringContaining("Keep it external") as string,
    });
  });
});
