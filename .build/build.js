// Builds dist/, unless it is complete and its sources are unchanged. npm runs it in the directory of the package.
import { execSync } from "node:child_process";
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
/** @typedef {{ name: string, version: string }} Package */
/**
 * The part of a CycloneDX document that is changed.
 * @typedef {{ "bom-ref": string, scope?: string, properties?: { name: string }[] }} Component
 * @typedef {{ metadata: { component: Package }, components: Component[], dependencies: { ref: string, dependsOn: string[] }[] }} Sbom
 */
/** @typedef {{ outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }} Metafile */

const sources = [".build", "bin", "src", "package.json", "package-lock.json", "tsconfig.json"];
// Replaces dist/ at the end, so that an interrupted build leaves the old one. Two builds may run at once.
const newDirectory = `dist.new-${process.pid}`;

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
  const { options } = await import("./tsup.config.ts");
  await tsup.build({ ...options, config: false, outDir: newDirectory, silent: true });
  const bundled = listBundledFiles(newDirectory);
  await writeLicenses(newDirectory, bundled);
  writeSbom(newDirectory, bundled);
  const { toManPage } = await import("./man-page.ts");
  writeFileSync(`${newDirectory}/plantstore.1`, toManPage());
  /** @type {Stamp} */
  const stamp = { sources: digest, files: readdirSync(newDirectory) };
  writeFileSync(`${newDirectory}/build.json`, JSON.stringify(stamp));
  while (!replaceDist());
}

/** @param {string} directory the bundle, with its metafile @returns {string[]} the files that it contains code of */
function listBundledFiles(directory) {
  const metafile = /** @type {Metafile} */ (
    JSON.parse(readFileSync(`${directory}/metafile-esm.json`, "utf8"))
  );
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}

/**
 * Writes the licenses of the bundled packages: most of them require their text in each copy.
 *
 * @param {string} directory the bundle
 * @param {string[]} bundled its files
 */
async function writeLicenses(directory, bundled) {
  const { writeThirdPartyNotices } = await import("@rnx-kit/third-party-notices");
  // The tool reads the names of the bundled files from a source map.
  const sourceMapFile = `${directory}/sources.map`;
  writeFileSync(sourceMapFile, JSON.stringify({ version: 3, sources: bundled }));
  await writeThirdPartyNotices({
    rootPath: ".",
    sourceMapFile,
    outputFile: `${directory}/THIRD-PARTY-LICENSES.txt`,
    preambleText: ["plantstore contains parts of the following packages."],
    json: false,
  });
  rmSync(sourceMapFile);
}

/**
 * Writes the list of the bundled packages (CycloneDX), in which scanners look for known vulnerabilities.
 *
 * @param {string} directory the bundle
 * @param {string[]} bundled its files
 */
function writeSbom(directory, bundled) {
  const manifests = bundled.flatMap((path) => {
    const [parent] = /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    return parent === undefined ? [] : `${parent}/package.json`;
  });
  const packages = [...new Set(manifests)].map((path) => readPackage(path));
  const names = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  // The last two flags override the environment: that of "npm install --global", and NODE_ENV=production.
  const command = "npm sbom --package-lock-only --sbom-format cyclonedx --no-global --include=dev";
  const output = execSync(command, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const sbom = /** @type {Sbom} */ (JSON.parse(output));
  // npm takes it from the directory.
  sbom.metadata.component.name = readPackage("package.json").name;
  // For npm they are packages of the development, because a user need not install them.
  sbom.components = sbom.components
    .filter((component) => names.has(component["bom-ref"]))
    .map((component) => ({ ...component, scope: "required", properties: [] }));
  const root = `${sbom.metadata.component.name}@${sbom.metadata.component.version}`;
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => ref === root || names.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => names.has(each)) }));
  if (sbom.components.length !== names.size) throw new Error("the SBOM lacks a bundled package");
  writeFileSync(`${directory}/sbom.cdx.json`, `${JSON.stringify(sbom, undefined, 2)}\n`);
}

/** @param {string} path @returns {Package} */
function readPackage(path) {
  return /** @type {Package} */ (JSON.parse(readFileSync(path, "utf8")));
}

/** @returns {boolean} false if another build has put its own dist/ there in the meantime */
function replaceDist() {
  try {
    rmSync("dist", { recursive: true, force: true });
    renameSync(newDirectory, "dist");
    return true;
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}

/** Removes the directories of builds that were interrupted. */
function removeInterrupted() {
  for (const name of readdirSync(".")) {
    const [, id] = /^dist\.new-(\d+)$/.exec(name) ?? [];
    if (id !== undefined && !isRunning(Number(id))) rmSync(name, { recursive: true, force: true });
  }
}

/** @param {number} id @returns {boolean} */
function isRunning(id) {
  try {
    process.kill(id, 0);
    return id !== process.pid;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
