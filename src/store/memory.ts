/** The engine that keeps everything in memory. */
import type { StoreEngine, TokenRecord } from "../core/store.ts";
import { MemoryPlants, type MemoryPlantsOptions } from "./memory-plants.ts";
import { takePage } from "./pages.ts";

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
