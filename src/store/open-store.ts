/** Opens the store that a URL names. Only the engine of that store is loaded. */
import { type PlantStore, type StoreEngine, StoreError, type StoreReader } from "../core/store.ts";
import { type CommitListener, createGroupCommitStore } from "./group-commit.ts";
import { parseStoreUrl, type StoreLocation } from "./store-url.ts";

/** Options for {@link openStore}. */
export interface OpenStoreOptions {
  /** Rejects a missing store instead of creating it. Default: false. */
  readonly mustExist?: boolean;
  /** Is called after each successful commit. */
  readonly onCommit?: CommitListener | undefined;
  /** Receives warnings for the operator, such as a second name of the file. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Opens a store, and creates it if it is missing.
 *
 * @param url `sqlite:PATH`, `postgres://…` or `memory:`
 * @throws StoreError mostly `unusable`; its message is one line with the problem, its place and how to fix it
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<PlantStore> {
  const engine = await openEngine(parseStoreUrl(url), options);
  return createGroupCommitStore(engine, options.onCommit);
}

/**
 * Opens an existing store to read. Nothing is created or changed, and others may write to it meanwhile.
 *
 * @param url `sqlite:PATH` or `postgres://…`
 * @throws StoreError mostly `unusable`; its message is one line with the problem, its place and how to fix it
 */
export async function openStoreReader(url: string): Promise<StoreReader> {
  const location = parseStoreUrl(url);
  switch (location.engine) {
    case "memory":
      throw new StoreError(
        "unusable",
        "a memory: store exists only inside its server process and cannot be read from another one",
      );
    case "sqlite": {
      const { openSqliteReader } = await import("./sqlite/engine.ts");
      return openSqliteReader(location.path);
    }
    case "postgres": {
      const { openPostgresReader } = await import("./postgres/engine.ts");
      return openPostgresReader(location.url);
    }
  }
}

async function openEngine(
  location: StoreLocation,
  { mustExist = false, onWarning }: OpenStoreOptions,
): Promise<StoreEngine> {
  switch (location.engine) {
    case "memory": {
      if (mustExist) {
        throw new StoreError(
          "unusable",
          "a memory: store exists only inside its server process and cannot be changed from another one",
        );
      }
      const { createMemoryEngine } = await import("./memory/engine.ts");
      return createMemoryEngine();
    }
    case "sqlite": {
      const { openSqliteEngine } = await import("./sqlite/engine.ts");
      return openSqliteEngine(location.path, { mustExist, onWarning });
    }
    case "postgres": {
      const { openPostgresEngine } = await import("./postgres/engine.ts");
      return openPostgresEngine(location.url, { mustExist });
    }
  }
}
