/** Opens a store itself, without a server, to read or change it. */
import type { PlantStore, StoreReader } from "../core/store.ts";
import { openStore, openStoreReader } from "../store/open-store.ts";

/**
 * Opens a store, reads from it, and always closes it.
 *
 * @throws StoreError if the store is missing or cannot be read, and every error of `read`
 */
export async function readStore<T>(
  url: string,
  read: (store: StoreReader) => Promise<T>,
): Promise<T> {
  return use(await openStoreReader(url), read);
}

/**
 * Opens an existing store, changes it, and always closes it.
 *
 * @throws StoreError if the store is missing or cannot be changed, and every error of `change`
 */
export async function changeStore<T>(
  url: string,
  change: (store: PlantStore) => Promise<T>,
): Promise<T> {
  return use(await openStore(url, { mustExist: true }), change);
}

async function use<Store extends Pick<PlantStore, "close">, T>(
  store: Store,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
