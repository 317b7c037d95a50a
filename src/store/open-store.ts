/** Opens the store that a URL names; only the engine it needs is loaded. */
import { type PlantStore, type StoreEngine, StoreError, type StoreReader } from "../core/store.ts";
import { type CommitListener, observeCommits } from "./commit-observer.ts";
import { createGroupCommit } from "./group-commit.ts";
import { parseStoreUrl, type StoreLocation } from "./store-url.ts";

/** How a store is opened. */
export interface OpenStoreOptions {
  /** Whether it is refused when there is none yet, instead of created. */
  readonly mustExist?: boolean;
  /** Is told of each commit that succeeded; it must not throw. */
  readonly onCommit?: CommitListener | undefined;
}

/**
 * Opens a store, and creates it when there is none yet.
 *
 * @param url `sqlite:PATH`, `postgres://…` or `memory:`
 * @throws StoreError mostly `unusable`; its message is one line with what is wrong, where, and what to do
 */
export async function openStore(
  url: string,
  { mustExist = false, onCommit }: OpenStoreOptions = {},
): Promise<PlantStore> {
  const engine = await openEngine(parseStoreUrl(url), mustExist);
  return createGroupCommit(onCommit === undefined ? engine : observeCommits(engine, onCommit));
}

/**
 * Opens a store that is there already, to read it. Nothing is created or changed, and others may write to it meanwhile.
 *
 * @param url `sqlite:PATH` or `postgres://…`
 * @throws StoreError mostly `unusable`; its message is one line with what is wrong, where, and what to do
 */
export async function openStoreReader(url: string): Promise<StoreReader> {
  const location = parseStoreUrl(url);
  switch (location.engine) {
    case "memory":
      throw new StoreError(
        "unusable",
        "memory: can't be read from outside: it lives in its server, and ends with it",
      );
    case "sqlite": {
      const { openSqliteReader } = await import("./sqlite/reader.ts");
      return openSqliteReader(location.path);
    }
    case "postgres": {
      const { openPostgresReader } = await import("./postgres/reader.ts");
      return openPostgresReader(location.url);
    }
  }
}

async function openEngine(location: StoreLocation, mustExist: boolean): Promise<StoreEngine> {
  switch (location.engine) {
    case "memory": {
      if (mustExist) {
        throw new StoreError(
          "unusable",
          "memory: can't be changed from outside: it lives in its server, and ends with it",
        );
      }
      const { createMemoryEngine } = await import("./memory/engine.ts");
      return createMemoryEngine();
    }
    case "sqlite": {
      const { openSqliteEngine } = await import("./sqlite/engine.ts");
      return openSqliteEngine(location.path, mustExist);
    }
    case "postgres": {
      const { openPostgresEngine } = await import("./postgres/engine.ts");
      return openPostgresEngine(location.url, { mustExist });
    }
  }
}
