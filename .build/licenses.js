// Writes the licenses of the bundled packages: most of them require their text in each copy.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeThirdPartyNotices } from "@rnx-kit/third-party-notices";

/** @typedef {{ outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }} Metafile */

/** @param {string} directory the bundle, with its metafile */
export async function writeLicenses(directory) {
  const metafile = /** @type {Metafile} */ (
    JSON.parse(readFileSync(`${directory}/metafile-esm.json`, "utf8"))
  );
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const sources = inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));

  // The tool reads the names of the bundled files from a source map.
  const sourceMapFile = `${directory}/sources.map`;
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
