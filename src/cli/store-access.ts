/** Reads and changes a store itself, for those who own it. */
import {
  type PlantStore,
  StoreError,
  type StoreErrorReason,
  type StoreReader,
} from "../core/store.ts";
import { openStore, openStoreReader } from "../store/open-store.ts";
import { CommandError } from "./command-error.ts";
import type { ExitCodeName } from "./exit-codes.ts";

/** A store that can't be read is a local file that can't be read; one that is busy now may not be in a moment. */
const exitByReason: Readonly<Record<StoreErrorReason, ExitCodeName>> = {
  unusable: "usage",
  full: "usage",
  busy: "unavailable",
  closed: "internal",
  failed: "internal",
};

/**
 * Opens a store, reads from it, and closes it, whatever happens.
 *
 * @param read gets the store, and is done with it once it resolves
 * @throws CommandError when the store is not there or can't be read, and what `read` throws
 */
export function readStore<T>(url: string, read: (store: StoreReader) => Promise<T>): Promise<T> {
  return use(() => openStoreReader(url), read);
}

/**
 * Opens a store that is there already, changes it, and closes it, whatever happens.
 *
 * @param change gets the store, and is done with it once it resolves
 * @throws CommandError when the store is not there or can't be changed, and what `change` throws
 */
export function changeStore<T>(url: string, change: (store: PlantStore) => Promise<T>): Promise<T> {
  return use(() => openStore(url, { mustExist: true }), change);
}

async function use<Store extends Pick<PlantStore, "close">, T>(
  open: () => Promise<Store>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  try {
    const store = await open();
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new CommandError(exitByReason[error.reason], error.message, { cause: error });
  }
}
