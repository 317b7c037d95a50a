#!/usr/bin/env node
// Checks the version of Node, and runs src/cli/main.ts.
// Old versions of Node must be able to parse this file: no import statement, no await, no `?.`.
const dist = "../dist";
const [major = 0, minor = 0, patch = 0] = process.versions.node.split(".").map(Number);

/**
 * The first supported version of each line, as in `engines` in package.json. Earlier ones hash numeric strings without a
 * seed, so that a client can choose strings that collide.
 *
 * @type {Record<number, [minor: number, patch: number]>}
 */
const firstVersions = { 20: [20, 2], 22: [22, 2], 24: [14, 1], 25: [8, 2] };
const { [major]: [firstMinor, firstPatch] = [major > 25 ? 0 : Infinity, 0] } = firstVersions;
const isSupported = minor > firstMinor || (minor === firstMinor && patch >= firstPatch);

// A command that ends with nothing left to wait for has not done its work.
process.exitCode = 1;
if (isSupported) {
  // Node 20: has no compile cache.
  const enableCompileCache = Reflect.get(
    process.getBuiltinModule("node:module"),
    "enableCompileCache",
  );
  if (enableCompileCache) enableCompileCache();
  /** @type {Promise<typeof import("../src/cli/main.ts")>} */
  const loaded = import(`${dist}/main.js`);
  loaded
    .then((command) => command.main(process.argv.slice(2), command.createProcessIo()))
    .then(
      (exitCode) => {
        process.exitCode = exitCode;
        // A worker of node:cluster would wait for its primary process.
        process.channel?.unref();
      },
      (/** @type {unknown} */ error) => {
        // Node names the missing module.
        const { url } = /** @type {{ url?: unknown }} */ (Object(error));
        if (!String(url).endsWith("/dist/main.js")) throw error;
        process.stderr.write("error: plantstore is not built: run npm run build\n");
      },
    );
} else {
  process.stderr.write(
    `error: plantstore needs Node.js 20.20.2, 22.22.2, 24.14.1 or 25.8.2, or a later version of these lines, or 26 or later (this is ${process.versions.node}). See https://nodejs.org\n`,
  );
}
