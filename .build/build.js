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
// Replaces dist/ at the end, so that an interrupted build leaves the old one. Two builds may run at once.
const newPrefix = "dist.new-";
const newDirectory = `${newPrefix}${process.pid}`;

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

/** Loads the development packages. Ends the process if they are not installed. */
async function loadTools() {
  try {
    const [tsup, { register }] = await Promise.all([import("tsup"), import("tsx/esm/api")]);
    return { tsup, register };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) {
      throw error;
    }
    process.stderr.write(
      "A build needs the development packages: run npm ci without --omit=dev and without NODE_ENV=production\n",
    );
    process.exit(1);
  }
}

async function build() {
  removeInterrupted();
  const { tsup, register } = await loadTools();
  register();
  // Imported here: tsup would write a file next to it, which another build would take for a source.
  const { browserOptions, options } = await import("./tsup.config.ts");
  await tsup.build({ ...options, config: false, outDir: newDirectory, silent: true });
  writeCommonJs();
  const outDir = `${newDirectory}/browser`;
  await tsup.build({ ...browserOptions, config: false, outDir, silent: true });
  const { writeLicenses, writeSbom } = await import("./bundled-packages.ts");
  await writeLicenses(newDirectory);
  writeSbom(newDirectory);
  const { toManPage } = await import("./man-page.ts");
  writeFileSync(`${newDirectory}/plantstore.1`, await toManPage());
  const files = readdirSync(newDirectory, { recursive: true, encoding: "utf8" });
  /** @type {Stamp} */
  const stamp = { sources: digest, files };
  writeFileSync(`${newDirectory}/build.json`, JSON.stringify(stamp));
  replaceDist();
}

/** Writes what `require("plantstore")` of CommonJS finds: the same module, and the same types in files that TypeScript takes for CommonJS. */
function writeCommonJs() {
  for (const name of ["index", "client"]) {
    writeFileSync(`${newDirectory}/${name}.cjs`, `module.exports = require("./${name}.js");\n`);
  }
  const files = readdirSync(newDirectory).filter((file) => file.endsWith(".d.ts"));
  for (const file of files) {
    const types = readFileSync(`${newDirectory}/${file}`, "utf8");
    const path = `${newDirectory}/${file.replace(/ts$/, "cts")}`;
    writeFileSync(path, types.replaceAll(/(?<=from '\.\/[\w-]+)\.js(?=')/g, ".cjs"));
  }
}

/** Another build may replace dist/ at the same time: the last one wins. */
function replaceDist() {
  for (;;) {
    rmSync("dist", { recursive: true, force: true });
    try {
      renameSync(newDirectory, "dist");
      return;
    } catch (error) {
      if (!existsSync("dist")) throw error;
    }
  }
}

/** Removes the directories of builds that were interrupted. */
function removeInterrupted() {
  for (const name of readdirSync(".").filter((each) => each.startsWith(newPrefix))) {
    try {
      process.kill(Number(name.slice(newPrefix.length)), 0);
    } catch (error) {
      // EPERM: the build of another user.
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code === "ESRCH") rmSync(name, { recursive: true, force: true });
    }
  }
}
