/** Measures what every user and contributor pays for plantstore: packages to install, and files that a create loads. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type * as libraryTypes from "../src/index.ts";

const run = promisify(execFile);
const root = new URL("..", import.meta.url);

/** The measured numbers. `budget` in package.json limits each of them. */
export interface Weight {
  /** Packages in package-lock.json, for all platforms. */
  readonly packages: number;
  /** Files of dist that one `plantstore create` loads. */
  readonly createFiles: number;
  /** Size of these files, in units of 1000 bytes. */
  readonly createKilobytes: number;
}

const descriptions: Readonly<Record<keyof Weight, string>> = {
  packages: "packages in package-lock.json",
  createFiles: "files of dist that a create loads",
  createKilobytes: "kB of dist that a create loads",
};

/** Measures this checkout, which must be built. */
export async function measureWeight(): Promise<Weight> {
  const lock = readJson(new URL("package-lock.json", root)) as { readonly packages: object };
  const sizes = (await listCreateFiles()).map((url) => statSync(url).size);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return {
    // Without the checkout itself.
    packages: Object.keys(lock.packages).length - 1,
    createFiles: sizes.length,
    createKilobytes: Math.ceil(bytes / 1000),
  };
}

/** Creates a plant on a server, and returns the files of dist that Node loaded for it. */
async function listCreateFiles(): Promise<URL[]> {
  const dist = new URL("dist/", root).href;
  const library = (await import(`${dist}index.js`)) as typeof libraryTypes;
  const directory = await mkdtemp(join(tmpdir(), "plantstore-budget-"));
  try {
    await using plants = await library.startPlantStore();
    const coverage = join(directory, "coverage");
    const env = {
      HOME: directory,
      NODE_V8_COVERAGE: coverage,
      PLANTSTORE_URL: plants.url,
      PLANTSTORE_TOKEN: plants.token,
    };
    const program = fileURLToPath(new URL("bin/plantstore.js", root));
    await run(process.execPath, [program, "create", "--id", "1", "--name", "fern"], { env });
    const urls = readdirSync(coverage).flatMap((name) => {
      const report = readJson(join(coverage, name)) as { readonly result: { url: string }[] };
      return report.result.map(({ url }) => url);
    });
    return [...new Set(urls)].filter((url) => url.startsWith(dist)).map((url) => new URL(url));
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
