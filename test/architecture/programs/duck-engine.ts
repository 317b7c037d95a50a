/**
 * A third engine, for a test that adds it to a copy of the sources. Its stores are in the memory of the process, each with
 * a file that only says that it exists.
 */
import { existsSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type StoreEngine, StoreError } from "../../../src/core/store.ts";
import { createMemoryEngine } from "../../../src/store/memory.ts";
import type { EngineType } from "../../../src/store/store-location.ts";

const scheme = "duck:";
const engines = new Map<string, StoreEngine>();

async function openDuck(path: string, mustExist = false): Promise<StoreEngine> {
  if (mustExist && !existsSync(path)) throw new StoreError("unusable", `no duck is at ${path}`);
  const engine = engines.get(path) ?? createMemoryEngine();
  engines.set(path, engine);
  await writeFile(path, "duck", { mode: 0o600 });
  return engine;
}

/** Stores plants in a duck. */
export const duckType: EngineType = {
  schemes: [scheme],
  form: "duck:PATH",
  usage: "duck:PATH (a duck)",
  isPrivate: false,
  toFileUrl: (path) => scheme + path,
  locate(url) {
    const path = resolve(url.slice(scheme.length));
    return {
      url,
      absoluteUrl: scheme + path,
      isVolatile: false,
      isShared: false,
      path,
      listFiles: async () => [path, `${path}.feather`],
      openEngine: ({ mustExist }) => openDuck(path, mustExist),
      openReader: () => openDuck(path, true),
      files: {
        async backUp(target) {
          await copyFile(path, target);
          return { path: target, plants: 0, bytes: 4 };
        },
        async verify() {
          const isSound = (await readFile(path, "utf8")) === "duck";
          if (!isSound) throw new StoreError("unusable", `no duck is at ${path}`);
          return { plants: 0, tokens: 0, version: 1 };
        },
        async restore(backup) {
          await copyFile(backup, path);
          return { path, plants: 0, bytes: 4 };
        },
      },
    };
  },
};
