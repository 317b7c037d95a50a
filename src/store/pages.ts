/** Reads plants in pages. */
import { type NewPlant, toTextLength } from "../core/plant.ts";
import type { PlantQuery, StoreReader } from "../core/store.ts";

/** Size at which an engine ends a page; plants before the one that reaches it are smaller together. */
export const maxPageSize = 2 ** 20;

/** Share of a plant in the size of its page, besides its text: about what its objects take in memory. */
export const plantSize = 512;

/** An engine measures text in UTF-16 code units, or in bytes as the database stores it: at most 6 for each unit. */
const maxUnitBytes = 6;

/** Returns the size of a plant in a page, with its text in UTF-16 code units. */
function toPageSize(plant: NewPlant): number {
  return plantSize + toTextLength(plant);
}

/** Takes plants until their page is full. */
export function takePage(plants: Iterable<NewPlant>, limit: number): NewPlant[] {
  const page: NewPlant[] = [];
  let size = 0;
  for (const plant of plants) {
    page.push(plant);
    size += toPageSize(plant);
    if (page.length === limit || size >= maxPageSize) break;
  }
  return page;
}

/** Checks whether a page with fewer plants than its limit may have ended by its size. */
function mayContinue(page: readonly NewPlant[]): boolean {
  const size = page.reduce((sum, plant) => sum + toPageSize(plant), 0);
  return size * maxUnitBytes >= maxPageSize;
}

/**
 * Reads the plants of a query in the order of their ids, each once, including every plant that exists at the start. One page
 * is in memory while the next one is read. No page is empty.
 */
export async function* readPlantPages(
  store: Pick<StoreReader, "list">,
  query: PlantQuery,
): AsyncGenerator<readonly NewPlant[], void, undefined> {
  let { afterId, limit: left } = query;
  let next: Promise<readonly NewPlant[]> | undefined = store.list(query);
  while (next !== undefined) {
    const page: readonly NewPlant[] = await next;
    if (page.length === 0) return;
    afterId = page.at(-1)?.id;
    left -= page.length;
    next = undefined;
    if (left > 0 && mayContinue(page)) {
      next = store.list({ ...query, afterId, limit: left });
      // A caller that stops here never sees its failure.
      next.catch(() => undefined);
    }
    yield page;
  }
}
