// Writes the licences of the packages that are bundled into dist/, beside the bundle: most ask for their text in each copy.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const packagesDirectory = "node_modules/";

/** @typedef {{ name: string, version: string, license: string, author?: string | { name: string }, repository?: string | { url: string } }} Manifest */

/** @typedef {{ outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }} Metafile */

const { outputs } = /** @type {Metafile} */ (readJson("dist/metafile-esm.json"));

const files = Object.values(outputs).flatMap(({ inputs }) =>
  Object.entries(inputs)
    .filter(([path, { bytesInOutput }]) => path.includes(packagesDirectory) && bytesInOutput > 0)
    .map(([path]) => path),
);
const directories = [...new Set(files.map(toPackageDirectory))];
const notices = directories.map(toNotice).toSorted((a, b) => (a < b ? -1 : 1));
writeFileSync(
  join(root, "dist/THIRD-PARTY-LICENSES.txt"),
  `plantstore contains parts of the following packages.\n\n${notices.join("\n")}`,
);

/**
 * The directory of the package that a file belongs to.
 *
 * @param {string} path
 */
function toPackageDirectory(path) {
  const start = path.lastIndexOf(packagesDirectory) + packagesDirectory.length;
  const [first = "", second = ""] = path.slice(start).split("/");
  return path.slice(0, start) + (first.startsWith("@") ? `${first}/${second}` : first);
}

/** @param {string} directory */
function toNotice(directory) {
  const manifest = /** @type {Manifest} */ (readJson(join(directory, "package.json")));
  const { name, version, license, author, repository } = manifest;
  const file = readdirSync(join(root, directory)).find((entry) => /^licen[cs]e/i.test(entry));
  // A few name their licence and its holder, and have no file with its text.
  const holder = typeof author === "object" ? author.name : author;
  const place = typeof repository === "object" ? repository.url : repository;
  const text =
    file === undefined
      ? `Copyright ${holder}; ${license}, as ${place} says.\n`
      : readFileSync(join(root, directory, file), "utf8")
          .trim()
          .concat("\n");
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${text.replaceAll("\r\n", "\n")}`;
}

/**
 * @param {string} path
 * @returns {unknown}
 */
function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}
