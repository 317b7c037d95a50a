/** The engine in memory: its URL, and what its store is. */
import { StoreError } from "../../core/store.ts";
import type { EngineType, StoreLocation } from "../store-location.ts";

const existsOnly = "exists only inside its server process";

const location: StoreLocation = {
  place: "memory:",
  absoluteUrl: "memory:",
  isVolatile: true,
  isShared: false,
  async openEngine({ mustExist }) {
    if (mustExist) {
      const problem = `a memory: store ${existsOnly} and cannot be changed from another one`;
      throw new StoreError("unusable", problem);
    }
    const { createMemoryEngine } = await import("./engine.ts");
    return createMemoryEngine();
  },
  async openReader() {
    const problem = `a memory: store ${existsOnly} and cannot be read from another one`;
    throw new StoreError("unusable", problem);
  },
  explainNoFile: (operation) =>
    `plantstore cannot ${operation} a memory: store, which ${existsOnly}`,
};

/** Keeps everything in memory. */
export const memoryType: EngineType = {
  schemes: ["memory:"],
  usage: "memory: (kept until the server ends)",
  locate(url) {
    if (url === location.place) return location;
    throw new StoreError("unusable", "memory: must not have a path: use memory: alone");
  },
};
