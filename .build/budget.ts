/** Measures what every user and contributor pays for plantstore: packages to install, and files that a command loads. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type * as libraryTypes from "../src/index.ts";
import type { Metafile } from "./bundled-packages.ts";

const run = promisify(execFile);
const root = new URL("..", import.meta.url);
const dist = new URL("dist/", root);

/** The measured numbers. `budget` in package.json limits each of them. */
export interface Weight {
  /** Packages in package-lock.json, for all platforms. */
  readonly packages: number;
  /** Files of dist that one `plantstore create` loads. */
  readonly createFiles: number;
  /** Size of these files, in units of 1000 bytes. */
  readonly createKilobytes: number;
  /** Files of src in these files. */
  readonly createSources: number;
  /** Files of src that `plantstore list` loads; fewer since Node 24, where it opens the store without a thread. */
  readonly listSources: number;
}

const descriptions: Readonly<Record<keyof Weight, string>> = {
  packages: "packages in package-lock.json",
  createFiles: "files of dist that a create loads",
  createKilobytes: "kB of dist that a create loads",
  createSources: "files of src that a create loads",
  listSources: "files of src that a list loads",
};

/** Measures this checkout, which must be built. */
export async function measureWeight(): Promise<Weight> {
  const lock = readJson(new URL("package-lock.json", root)) as { readonly packages: object };
  const [ofCreate = [], ofList = []] = await listLoadedFiles([
    ["create", "--id", "1", "--name", "fern"],
    ["list", "--limit", "3"],
  ]);
  const bytes = ofCreate.reduce((sum, name) => sum + statSync(new URL(name, dist)).size, 0);
  return {
    // Without the checkout itself.
    packages: Object.keys(lock.packages).length - 1,
    createFiles: ofCreate.length,
    createKilobytes: Math.ceil(bytes / 1000),
    createSources: toSources(ofCreate).length,
    listSources: toSources(ofList).length,
  };
}

/** Lists the files of src that commands load. @param commands arguments of each */
export async function listLoadedSources(
  commands: readonly (readonly string[])[],
): Promise<readonly (readonly string[])[]> {
  return (await listLoadedFiles(commands)).map(toSources);
}

/** Lists the files of src that files of dist were made of. @param names of files of dist */
function toSources(names: readonly string[]): readonly string[] {
  const { outputs } = readJson(new URL("metafile-esm.json", dist)) as Metafile;
  const inputs = Object.entries(outputs).flatMap(([path, output]) =>
    names.includes(basename(path)) ? Object.entries(output.inputs) : [],
  );
  const sources = inputs.filter(
    ([path, { bytesInOutput }]) => path.startsWith("src/") && bytesInOutput > 0,
  );
  return [...new Set(sources.map(([path]) => path))];
}

/** Runs commands with a server and its store, and returns the names of the files of dist that Node loaded for each. */
async function listLoadedFiles(commands: readonly (readonly string[])[]): Promise<string[][]> {
  const library = (await import(`${dist.href}index.js`)) as typeof libraryTypes;
  const directory = await mkdtemp(join(tmpdir(), "plantstore-budget-"));
  try {
    const store = `sqlite:${join(directory, "plants.db")}`;
    await using plants = await library.startPlantStore({ store });
    const program = fileURLToPath(new URL("bin/plantstore.js", root));
    const runs = commands.map(async (args, index) => {
      const coverage = join(directory, `coverage-${index}`);
      const env = {
        HOME: directory,
        NODE_V8_COVERAGE: coverage,
        PLANTSTORE_TOKEN: plants.token,
        ...(args[0] === "create" ? { PLANTSTORE_URL: plants.url } : { PLANTSTORE_STORE: store }),
      };
      await run(process.execPath, [program, ...args], { env });
      // One for each thread.
      const urls = readdirSync(coverage).flatMap((name) => {
        const report = readJson(join(coverage, name)) as { readonly result: { url: string }[] };
        return report.result.map(({ url }) => url);
      });
      return [...new Set(urls)].flatMap((url) =>
        url.startsWith(dist.href) ? url.slice(dist.href.length) : [],
      );
    });
    return await Promise.all(runs);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readJson(path: string | URL): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Returns one line for each number. */
export function toReport(weight: Weight, budget: Weight): string {
  return toNames(weight)
    .map((name) => `${weight[name]} ${descriptions[name]} (budget: ${budget[name]})\n`)
    .join("");
}

/** Returns an error for each number above its budget. */
export function findExcesses(weight: Weight, budget: Weight): string[] {
  return toNames(weight)
    .filter((name) => !(weight[name] <= budget[name]))
    .map(
      (name) =>
        `${weight[name]} ${descriptions[name]} exceed the budget of ${budget[name]}. Remove some, ` +
        `or raise budget.${name} in package.json, in a commit of its own that gives the reason.`,
    );
}

function toNames(weight: Weight): (keyof Weight)[] {
  return Object.keys(weight) as (keyof Weight)[];
}
