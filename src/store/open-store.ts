/** Opens the store that a URL names; only the engine it needs is loaded. */
import type { PlantStore, StoreEngine } from "../core/store.ts";
import { createGroupCommit } from "./group-commit.ts";
import { parseStoreUrl, type StoreLocation } from "./store-url.ts";

/**
 * Opens a store, and creates it when there is none yet.
 *
 * @param url `sqlite:PATH` or `memory:`
 * @throws StoreError mostly `unusable`; its message is one line with what is wrong, where, and what to do
 */
export async function openStore(url: string): Promise<PlantStore> {
  return createGroupCommit(await openEngine(parseStoreUrl(url)));
}

async function openEngine(location: StoreLocation): Promise<StoreEngine> {
  switch (location.engine) {
    case "memory": {
      const { createMemoryEngine } = await import("./memory/engine.ts");
      return createMemoryEngine();
    }
    case "sqlite": {
      const { openSqliteEngine } = await import("./sqlite/engine.ts");
      return openSqliteEngine(location.path);
    }
  }
}
