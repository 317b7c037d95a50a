/** Bundles sources into files that every Node can run: Node 20 reads no TypeScript. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Inside the package, where bundled files find the packages that they import. */
const cacheDirectory = join(root, "node_modules/.cache");

/** The script of the SQLite engine's threads, which must be in the directory of the file that starts them. */
export const sqliteWorker = { "sqlite-worker": "src/store/sqlite/worker.ts" };

/** A directory with files of JavaScript. */
export interface Bundle {
  readonly directory: string;
  remove(): Promise<void>;
}

/**
 * Bundles sources into a new directory.
 *
 * @param entry the files' names without `.js`, and the sources' paths below the package's root
 * @param parent parent of the new directory
 */
export async function bundle(
  entry: Readonly<Record<string, string>>,
  parent = cacheDirectory,
): Promise<Bundle> {
  await mkdir(parent, { recursive: true });
  const directory = await mkdtemp(join(parent, "plantstore-bundle-"));
  await writeFile(join(directory, "package.json"), '{"type":"module"}');
  await build({
    config: false,
    entry: Object.fromEntries(
      Object.entries(entry).map(([name, path]) => [name, join(root, path)]),
    ),
    outDir: directory,
    format: "esm",
    target: "node20",
    external: ["@photostructure/sqlite"],
    silent: true,
  });
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}
