/**
 * Runs the script of the engine's threads with faults: some texts have an effect when the thread searches them for NULs. For
 * a plant, this is in the middle of its commit. For a query, it is before the query runs.
 */
import { existsSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import type { ConnectionTarget } from "../../../../src/store/sqlite/connection.ts";

let path = "";

const effects: Readonly<Record<string, () => void>> = {
  exit: () => process.exit(3),
  "exit on release": () => {
    waitForRelease();
    process.exit(3);
  },
  "throw after the commit": () => {
    parentPort!.postMessage = () => undefined;
    throwLater();
  },
  "throw after the reply": () => throwLater(),
  "wait for release": () => waitForRelease(),
};

/** Blocks the thread until the test creates a file. */
function waitForRelease(): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(`${path}.release`)) Atomics.wait(cell, 0, 0, 1);
}

function throwLater(): void {
  queueMicrotask(() => {
    throw new Error("staged");
  });
}

const { includes } = String.prototype;
// oxlint-disable-next-line no-extend-native -- only failure is faked
String.prototype.includes = function includesWithEffect(part, position) {
  if (part === "\0") effects[String(this)]?.();
  return includes.call(this, part, position);
};

await import("../../../../src/store/sqlite/worker.ts");
parentPort!.once("message", (target: ConnectionTarget) => ({ path } = target));
