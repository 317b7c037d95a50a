/** The packed tarball, installed with pnpm and Yarn without a network. test/e2e/package.test.ts installs it with npm. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { killGroup } from "../helpers/kill-group.ts";
import { compileProject, createProject } from "../helpers/node-project.ts";
import { pack } from "../helpers/pack.ts";
import { findFreePort } from "../helpers/postgres-server.ts";
import { root, run } from "../helpers/run.ts";

const modules = join(root, "node_modules");
const ecosystem = fileURLToPath(new URL("node_modules", import.meta.url));
const attw = join(ecosystem, "@arethetypeswrong/cli/dist/index.js");
const pnpm = join(ecosystem, "pnpm/bin/pnpm.cjs");
const yarn = join(ecosystem, "@yarnpkg/cli-dist/bin/yarn.js");
/** The package of SQLite for Node 20 and its own dependencies, which a registry would provide. */
const dependencies = ["@photostructure/sqlite", "node-addon-api", "node-gyp-build"];

let directory: string;
let tarball: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "plantstore-test-"));
  tarball = await pack(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** A package manager: how it installs, and how it runs the command. */
interface Manager {
  readonly name: string;
  /** Fields of package.json. */
  readonly manifest: object;
  readonly env: Readonly<Record<string, string>>;
  readonly install: readonly string[];
  readonly execute: readonly string[];
}

function toYarn(name: string, linker: string): Manager {
  return {
    name,
    manifest: {
      dependencies: { "@photostructure/sqlite": "1" },
      resolutions: Object.fromEntries(
        dependencies.map((each) => [each, `portal:${join(modules, each)}`]),
      ),
    },
    env: {
      YARN_NODE_LINKER: linker,
      YARN_ENABLE_NETWORK: "0",
      YARN_ENABLE_SCRIPTS: "0",
      YARN_ENABLE_TELEMETRY: "0",
      YARN_ENABLE_IMMUTABLE_INSTALLS: "0",
    },
    install: [yarn, "add", "plantstore@file:TARBALL"],
    execute: [yarn, "plantstore"],
  };
}

const managers: readonly Manager[] = [
  {
    name: "pnpm",
    manifest: {
      dependencies: { "@photostructure/sqlite": "1" },
      pnpm: {
        overrides: Object.fromEntries(
          dependencies.map((each) => [each, `link:${join(modules, each)}`]),
        ),
      },
    },
    env: {},
    install: [pnpm, "add", "--offline", "--ignore-scripts", "TARBALL"],
    execute: [pnpm, "exec", "plantstore"],
  },
  toYarn("Yarn with node_modules", "node-modules"),
  toYarn("Yarn with Plug'n'Play", "pnp"),
];

it.each(managers)(
  "works when it is installed with $name",
  async ({ name, manifest, env, install, execute }) => {
    const project = join(directory, name);
    const home = join(project, "home");
    await mkdir(home, { recursive: true });
    await writeFile(
      join(project, "package.json"),
      JSON.stringify({ private: true, type: "module", ...manifest }),
    );
    const options = {
      cwd: project,
      env: {
        PATH: [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
        HOME: home,
        ...env,
      },
    };
    const args = install.map((each) => each.replace("TARBALL", tarball));
    await run(process.execPath, args, options);

    // A chosen port, for which the token is saved.
    const port = String(await findFreePort());
    const server = spawn(process.execPath, [...execute, "serve", "--port", port], {
      ...options,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    // The package manager and the server.
    onTestFinished(() => killGroup(server));
    const lines = createInterface({ input: server.stdout });
    const [url] = (await Promise.race([
      once(lines, "line"),
      once(server, "exit").then(([code]) => {
        throw new Error(`serve ended with ${code}`);
      }),
    ])) as [string];
    const create = [...execute, "create", "--id", "1", "--name", "fern"];
    const created = await run(process.execPath, create, {
      ...options,
      env: { ...options.env, PLANTSTORE_URL: url },
    });
    expect(created.stdout).toBe('{"name":"fern"}\n');
  },
);

it("has types for ES modules and for CommonJS, each of the kind of its code", async () => {
  // Exits with 1 if it finds a problem.
  const args = [attw, tarball, "--profile", "node16", "--format", "ascii"];
  const { stdout } = await run(process.execPath, args);
  expect(stdout.match(/node16 \(from CJS\): 🟢 \(CJS\)/g)).toHaveLength(2);
});

/** Compilers by their version: the oldest one that programs can use, that of this checkout, and the newest one. */
const compilers = [
  ["5.4", join(ecosystem, "typescript-5.4")],
  ["5.9", join(modules, "typescript")],
  ["7", join(ecosystem, "typescript-7")],
] as const;

/** A program of CommonJS, which `module: node16` compiles only if the types are of that kind (TS1479). */
const commonJsProgram = `
import { createClient, type NewPlant, startPlantStore } from "plantstore";
import forBundlers = require("plantstore/client");

async function main(): Promise<void> {
  const store = await startPlantStore({ operations: "all", onConflict: "replace" });
  const plant: NewPlant = { id: 9007199254740993n, name: "fern" };
  const created = await createClient(store).create(plant);
  const pages = forBundlers.createClient({ url: store.url, token: store.token }).list();
  for await (const page of pages) console.log(created.ok, page);
  await store.close();
}
void main();
`;

it.each(compilers)(
  "can be imported by CommonJS, compiled with TypeScript %s",
  async (version, compiler) => {
    const types = join(modules, "@types/node");
    const files = { "package.json": '{"type":"commonjs"}', "program.ts": commonJsProgram };
    const project = await createProject(files, { "@types/node": types });
    const { stdout: shown } = await run(process.execPath, [join(compiler, "bin/tsc"), "-v"]);
    expect(shown).toContain(`Version ${version}`);
    const options = { module: "Node16", lib: ["ES2022", "ESNext.Disposable"], skipLibCheck: false };
    await compileProject(project, options, compiler);
    const { stdout } = await run(process.execPath, [join(project, "program.js")]);
    expect(stdout).toBe("true [ { id: 9007199254740993n, name: 'fern' } ]\n");
  },
);
