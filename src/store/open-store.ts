/** Opens the store that a URL names. Only the engine of that store is loaded. */
import type { PlantStore, StoreReader } from "../core/store.ts";
import { type CommitListener, createGroupCommitStore } from "./group-commit.ts";
import type { EngineOptions } from "./store-location.ts";
import { parseStoreUrl } from "./store-url.ts";

/** Options for {@link openStore}. */
export interface OpenStoreOptions extends EngineOptions {
  /** Is called after each successful commit. */
  readonly onCommit?: CommitListener | undefined;
}

/**
 * Opens a store, and creates it if it is missing.
 *
 * @param url `sqlite:PATH`, `postgres://…` or `memory:`
 * @throws StoreError mostly `unusable`; its message is one line with the problem, its place and how to fix it
 */
export async function openStore(
  url: string,
  { onCommit, ...options }: OpenStoreOptions = {},
): Promise<PlantStore> {
  const location = parseStoreUrl(url);
  const store = createGroupCommitStore(await location.openEngine(options), onCommit);
  return { ...store, isVolatile: location.isVolatile };
}

/**
 * Opens an existing store to read. Nothing is created or changed, and others may write to it meanwhile.
 *
 * @param url `sqlite:PATH` or `postgres://…`
 * @throws StoreError mostly `unusable`; its message is one line with the problem, its place and how to fix it
 */
export async function openStoreReader(url: string): Promise<StoreReader> {
  return parseStoreUrl(url).openReader({});
}
