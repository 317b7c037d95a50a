/** Reads every plant of a store. */
import type { NewPlant } from "../../src/core/plant.ts";
import type { StoreReader } from "../../src/core/store.ts";
import { readPlantPages } from "../../src/store/pages.ts";
import { parseStoreUrl } from "../../src/store/store-url.ts";

/** Resolves with the plants in the order of their ids. */
export async function listAll(store: Pick<StoreReader, "list">): Promise<NewPlant[]> {
  const pages: (readonly NewPlant[])[] = [];
  for await (const page of readPlantPages(store, { limit: Infinity })) pages.push(page);
  return pages.flat();
}

/** Resolves with the plants of a store that a server may have open. */
export async function listStored(url: string): Promise<NewPlant[]> {
  const reader = await parseStoreUrl(url).openReader();
  const plants = await listAll(reader);
  await reader.close();
  return plants;
}
