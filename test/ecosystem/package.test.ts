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
  120_000,
);

it("has types that TypeScript finds in ES modules", async () => {
  // Exits with 1 if it finds a problem.
  const { stdout } = await run(process.execPath, [attw, tarball, "--profile", "esm-only"]);
  expect(stdout).toMatch(/node16 \(from ESM\).*🟢/);
});
