/** Writes the licenses and the SBOM of the bundled packages. */
import { execSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeThirdPartyNotices } from "@rnx-kit/third-party-notices";

interface Package {
  readonly name: string;
  readonly version: string;
}

/** The part of a CycloneDX document that is changed. */
interface Sbom {
  serialNumber?: string;
  readonly metadata: {
    timestamp?: string;
    readonly component: { name: string; readonly version: string; properties: unknown[] };
  };
  components: { readonly "bom-ref": string; scope?: string; properties?: { name: string }[] }[];
  dependencies: { readonly ref: string; readonly dependsOn: string[] }[];
}

/** The part of the report of esbuild that is read: the files in each file of the bundle. */
export interface Metafile {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Record<string, { readonly bytesInOutput: number }> }>
  >;
}

/**
 * Writes the licenses of the bundled packages: most of them require their text in each copy.
 *
 * @param directory the bundles, with their metafiles
 */
export async function writeLicenses(directory: string): Promise<void> {
  // The tool reads the names of the bundled files from a source map.
  const sourceMapFile = `${directory}/sources.map`;
  const sources = listBundledFiles(directory);
  writeFileSync(sourceMapFile, JSON.stringify({ version: 3, sources }));
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
 * @param directory the bundles, with their metafiles
 * @throws {Error} if npm does not list one of them
 */
export function writeSbom(directory: string): void {
  const manifests = listBundledFiles(directory).flatMap((path) => {
    const [parent] = /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    return parent === undefined ? [] : `${parent}/package.json`;
  });
  const packages = [...new Set(manifests)].map((path) => readJson(path) as Package);
  const names = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  // The last two flags override the environment: that of "npm install --global", and NODE_ENV=production.
  const command = "npm sbom --package-lock-only --sbom-format cyclonedx --no-global --include=dev";
  const output = execSync(command, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const sbom = JSON.parse(output) as Sbom;
  const { component } = sbom.metadata;
  // Two builds of the same sources are equal.
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  // Only the checkout is private.
  component.properties = [];
  // npm takes it from the directory.
  component.name = (readJson("package.json") as Package).name;
  // For npm they are packages of the development, because a user need not install them.
  sbom.components = sbom.components
    .filter((each) => names.has(each["bom-ref"]))
    .map((each) => ({ ...each, scope: "required", properties: [] }));
  const root = `${component.name}@${component.version}`;
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => ref === root || names.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => names.has(each)) }));
  if (sbom.components.length !== names.size) throw new Error("the SBOM lacks a bundled package");
  writeFileSync(`${directory}/sbom.cdx.json`, `${JSON.stringify(sbom, undefined, 2)}\n`);
}

/** Lists the files that the bundle contains code of. */
function listBundledFiles(directory: string): string[] {
  const paths = [`${directory}/metafile-esm.json`, `${directory}/browser/metafile-esm.json`];
  const outputs = paths.flatMap((path) => Object.values((readJson(path) as Metafile).outputs));
  const inputs = outputs.flatMap((output) => Object.entries(output.inputs));
  return inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
