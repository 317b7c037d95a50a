#!/usr/bin/env node
// Checks the version of Node, and runs src/cli/main.ts.
// Old versions of Node must be able to parse this file: no import statement, no await, no `?.`.
const dist = "../dist";
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

/** The same range as `engines` in package.json. */
const isSupported = major === 20 ? minor >= 19 : major === 22 ? minor >= 15 : major >= 24;

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
    `error: plantstore needs Node.js 20.19 or later of 20, 22.15 or later of 22, or 24 or later (this is ${process.versions.node}). See https://nodejs.org\n`,
  );
}
