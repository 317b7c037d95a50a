/** Opens a store itself, without a server, to read or change it. */
import {
  type PlantStore,
  StoreError,
  type StoreErrorReason,
  type StoreReader,
} from "../core/store.ts";
import { openStore, openStoreReader } from "../store/open-store.ts";
import { CommandError } from "./command-error.ts";
import type { ExitCodeName } from "./exit-codes.ts";

/** A store that cannot be read is a local file that cannot be read; a busy store may respond to a retry. */
const exitByReason: Readonly<Record<StoreErrorReason, ExitCodeName>> = {
  unusable: "usage",
  full: "usage",
  busy: "unavailable",
  closed: "internal",
  failed: "internal",
};

/**
 * Opens a store, reads from it, and always closes it.
 *
 * @throws CommandError if the store is missing or cannot be read, and every error of `read`
 */
export function readStore<T>(url: string, read: (store: StoreReader) => Promise<T>): Promise<T> {
  return use(() => openStoreReader(url), read);
}

/**
 * Opens an existing store, changes it, and always closes it.
 *
 * @throws CommandError if the store is missing or cannot be changed, and every error of `change`
 */
export function changeStore<T>(url: string, change: (store: PlantStore) => Promise<T>): Promise<T> {
  return use(() => openStore(url, { mustExist: true }), change);
}

function use<Store extends Pick<PlantStore, "close">, T>(
  open: () => Promise<Store>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  return explainStoreErrors(async () => {
    const store = await open();
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  });
}

/**
 * Does work with a store.
 *
 * @throws CommandError for a StoreError, and every other error of `work`
 */
export async function explainStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new CommandError(exitByReason[error.reason], error.message, { cause: error });
  }
}
