#!/usr/bin/env node
// The command: checks the version of Node, turns on its compile cache, and hands over to src/cli/main.ts.
// A Node of years ago reads the whole file before it can say what is needed: no static import, no await, no `?.`.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `error: plantstore needs Node.js 20.19 or newer, and this is ${process.versions.node}: see https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  // Node 20 optimises undici's WebAssembly in the background, and its exit waits for that: 90 of 190 ms of a create.
  // From 22 on it does not. A pipe of many plants takes as long either way.
  if (major < 22) process.getBuiltinModule("node:v8").setFlagsFromString("--liftoff-only");
  import("node:module")
    .then((nodeModule) => {
      const enableCompileCache = Reflect.get(nodeModule, "enableCompileCache");
      if (enableCompileCache) enableCompileCache(); // From Node 22.1 on.
      return import(new URL("../dist/cli.js", import.meta.url).href);
    })
    .then(
      /** @param {typeof import("../src/cli/main.ts")} cli */
      ({ createProcessIo, main }) => main(process.argv.slice(2), createProcessIo()),
    )
    .then((exitCode) => {
      process.exitCode = exitCode;
    });
}
