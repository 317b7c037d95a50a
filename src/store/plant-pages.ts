/** Reads the plants of a store in pages. */
import { type NewPlant, toTextLength } from "../core/plant.ts";
import type { PlantQuery, StoreReader } from "../core/store.ts";

/** Larger pages are not faster. */
const maxPlants = 100;
/** Target length of the text in a page, in UTF-16 code units. */
const aimedLength = 1024 * 1024;

/**
 * Reads the plants of a query in the order of their ids, each once, including every plant that exists at the start. One page
 * is in memory at a time. The larger the plants are, the fewer are on the next page.
 */
export async function* readPlantPages(
  store: Pick<StoreReader, "list">,
  { afterId, tag, limit }: PlantQuery,
): AsyncGenerator<readonly NewPlant[], void, undefined> {
  let lastId = afterId;
  let left = limit;
  let pageSize = 1;
  while (left > 0) {
    const asked = Math.min(pageSize, left);
    const page = await store.list({ afterId: lastId, tag, limit: asked });
    if (page.length > 0) yield page;
    if (page.length < asked) return;
    lastId = page.at(-1)?.id;
    left -= page.length;
    pageSize = toNextPageSize(page);
  }
}

/** Returns the size of the page after this one: at most twice its size, because the next plants may be larger. */
export function toNextPageSize(page: readonly (NewPlant | undefined)[]): number {
  const length = page.reduce((sum, plant) => sum + (plant ? toTextLength(plant) : 0), 0);
  const fitting = Math.floor((aimedLength / (length + 1)) * page.length);
  return Math.max(1, Math.min(fitting, page.length * 2, maxPlants));
}
