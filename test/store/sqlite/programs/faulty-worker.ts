/**
 * The script of the engine's threads, but some texts have an effect when they are looked through for NULs on their way to
 * SQLite: in a plant that is in the middle of its commit, in a query before it is run.
 */
import { parentPort } from "node:worker_threads";

const effects: Readonly<Record<string, () => void>> = {
  exit: () => process.exit(3),
  "throw after the commit": () => {
    parentPort!.postMessage = () => undefined;
    throwLater();
  },
  "throw after the reply": () => throwLater(),
  linger: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500),
};

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
