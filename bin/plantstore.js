#!/usr/bin/env node
// The command: checks the version of Node, and hands over to src/cli/start.ts.
// A Node of years ago reads the whole file before it can say what is needed: no import, no await, no `?.`.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `error: plantstore needs Node.js 20.19 or newer, and this is ${process.versions.node}: see https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  // Until it is known better: whoever ends with nothing left to wait for has not done what was asked.
  process.exitCode = 1;
  /** @type {typeof import("../src/cli/start.ts")} */
  const { createProcessIo, start } = require(`${__dirname}/../dist/start.js`);
  start(process.argv.slice(2), createProcessIo()).then((exitCode) => {
    process.exitCode = exitCode;
  });
}
