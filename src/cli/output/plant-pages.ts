/** Reads many plants of a store, a few of them at a time. */
import type { NewPlant } from "../../core/plant.ts";
import type { PlantQuery, StoreReader } from "../../core/store.ts";

/** More of them at a time would hardly be faster. */
const maxPlants = 100;
/** How much text is worth a page of its own, in UTF-16 code units. */
const aimedLength = 1024 * 1024;

/**
 * The plants that a query asks for, in the order of their ids, each once. Those that were there when it began are all
 * among them. In memory is one page at a time, and the larger the plants are, the fewer are on the next page.
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
    pageSize = toNextSize(page);
  }
}

/** At most twice as many as on this page, because the plants on the next one may be larger. */
function toNextSize(page: readonly NewPlant[]): number {
  const length = page.reduce((sum, { name, tag = "" }) => sum + name.length + tag.length, 0);
  const fitting = Math.floor((aimedLength / (length + 1)) * page.length);
  return Math.max(1, Math.min(fitting, page.length * 2, maxPlants));
}
