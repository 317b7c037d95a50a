/**
 * The script of the engine's threads, but some texts have an effect when they are turned into bytes for SQLite: in a
 * plant that is in the middle of its commit, in a query before it is run.
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

const { encode } = TextEncoder.prototype;
TextEncoder.prototype.encode = function encodeWithEffect(text = "") {
  effects[text]?.();
  return encode.call(this, text);
};

await import("../../../../src/store/sqlite/worker.ts");
