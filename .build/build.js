// Builds dist/, unless it is complete and its sources are unchanged. npm runs it in the directory of the package.
import { createHash } from "node:crypto";
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";

/** @typedef {{ sources: string, files: string[] }} Stamp */

const sources = [".build", "bin", "src", "package.json", "package-lock.json", "tsconfig.json"];
// Replaces dist/ at the end, so that an interrupted build leaves the old one.
const newDirectory = "dist.new";

const digest = digestSources();
if (!isCurrent()) await build();

/** @returns {string} a digest of the names and contents of all sources */
function digestSources() {
  const hash = createHash("sha256");
  for (const path of sources.flatMap(listFiles)) {
    const bytes = readFileSync(path);
    hash.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** @param {string} source @returns {string[]} */
function listFiles(source) {
  if (!statSync(source).isDirectory()) return [source];
  const paths = readdirSync(source, { recursive: true, encoding: "utf8" }).toSorted();
  return paths.map((path) => `${source}/${path}`).filter((path) => statSync(path).isFile());
}

function isCurrent() {
  if (!existsSync("dist/build.json")) return false;
  const stamp = /** @type {Stamp} */ (JSON.parse(readFileSync("dist/build.json", "utf8")));
  return stamp.sources === digest && stamp.files.every((file) => existsSync(`dist/${file}`));
}

async function build() {
  const [tsup, { register }] = await Promise.all([import("tsup"), import("tsx/esm/api")]);
  await tsup.build({ config: ".build/tsup.config.ts", outDir: newDirectory, silent: true });
  const { writeLicenses } = await import("./licenses.js");
  await writeLicenses(newDirectory);
  register();
  const { writeManPages } = await import("./man-pages.ts");
  writeManPages(newDirectory);
  /** @type {Stamp} */
  const stamp = { sources: digest, files: readdirSync(newDirectory) };
  writeFileSync(`${newDirectory}/build.json`, JSON.stringify(stamp));
  rmSync("dist", { recursive: true, force: true });
  renameSync(newDirectory, "dist");
}
