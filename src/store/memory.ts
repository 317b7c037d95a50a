/** The engine that keeps everything in memory, and its URL. */
import { type StoreEngine, StoreError, type TokenRecord } from "../core/store.ts";
import { MemoryPlants, type MemoryPlantsOptions } from "./memory-plants.ts";
import { takePage } from "./pages.ts";
import type { EngineType, StoreLocation } from "./store-location.ts";

/** A store in memory, which is empty but for its seeds. */
export function createMemoryEngine(options?: MemoryPlantsOptions): StoreEngine {
  const plants = new MemoryPlants(options);
  const tokens = new Map<string, TokenRecord>();
  let tokenChanges = 0;

  return {
    commit: async (entries) => entries.map((entry) => plants.change(entry)),
    get: async (id) => plants.get(id),
    list: async ({ limit, ...filter }) => takePage(plants.select(filter), limit),
    async count(filter) {
      let count = 0;
      for (const _ of plants.select(filter)) count++;
      return count;
    },
    checkWritable: async () => undefined,
    async addToken(token) {
      tokenChanges++;
      if (!tokens.has(token.digest)) tokens.set(token.digest, token);
    },
    listTokens: async () => [...tokens.values()].toSorted((a, b) => a.issuedAtMs - b.issuedAtMs),
    async readTokens(knownVersion) {
      const version = `${tokenChanges}`;
      return version === knownVersion ? { version } : { version, tokens: [...tokens.values()] };
    },
    async endToken({ digest, ...end }) {
      const token = tokens.get(digest);
      if (token === undefined) return;
      tokenChanges++;
      const expiresAtMs = findEarlier(token.expiresAtMs, end.expiresAtMs);
      const revokedAtMs = findEarlier(token.revokedAtMs, end.revokedAtMs);
      tokens.set(digest, { ...token, expiresAtMs, revokedAtMs });
    },
    async recordTokenUse(digests, day) {
      for (const digest of digests) {
        const token = tokens.get(digest);
        if (token === undefined || (token.lastUsedDay ?? Number.NEGATIVE_INFINITY) >= day) continue;
        tokens.set(digest, { ...token, lastUsedDay: day });
      }
    },
    clear: async () => plants.clear(),
    close: async () => undefined,
  };
}

function findEarlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

const existsOnly = "exists only inside its server process";
/** Why another process cannot open it, and what it can do. */
const isOutOfReach = `a memory: store ${existsOnly}: "plantstore list --url URL" reads its plants there, if the server has --operations all`;

const location: StoreLocation = {
  url: "memory:",
  absoluteUrl: "memory:",
  isVolatile: true,
  isShared: false,
  async openEngine({ mustExist }) {
    if (mustExist) {
      throw new StoreError("unusable", isOutOfReach);
    }
    return createMemoryEngine();
  },
  async openReader() {
    throw new StoreError("unusable", isOutOfReach);
  },
  files: (operation) => `plantstore cannot ${operation} a memory: store, which ${existsOnly}`,
};

/** Keeps everything in memory. */
export const memoryType: EngineType = {
  schemes: ["memory:"],
  form: "memory:",
  isPrivate: true,
  usage: "memory: (kept until the server ends)",
  suggest: (text) => (/^:?memory:?$/i.test(text) ? location.url : undefined),
  locate(url) {
    if (url === location.url) return location;
    throw new StoreError("unusable", "memory: must not have a path: use memory: alone");
  },
};
