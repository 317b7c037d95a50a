/** Reads plants in pages. */
import { type NewPlant, toTextLength } from "../core/plant.ts";
import type { PlantQuery, StoreReader } from "../core/store.ts";

/** An engine ends a page with the plant that reaches this size. */
export const maxPageSize = 2 ** 20;

/** What a plant adds to the size of its page besides its text: about what its objects take in memory. */
export const plantSize = 512;

export function takePage(plants: Iterable<NewPlant>, limit: number): NewPlant[] {
  const page: NewPlant[] = [];
  let size = 0;
  for (const plant of plants) {
    page.push(plant);
    size += plantSize + toTextLength(plant);
    if (page.length === limit || size >= maxPageSize) break;
  }
  return page;
}

/**
 * Reads the plants of a query in the order of their ids, each once, including every plant that exists at the start. One page
 * is in memory while the next one is read. No page is empty.
 */
export async function* readPlantPages(
  store: Pick<StoreReader, "list">,
  query: PlantQuery,
): AsyncGenerator<readonly NewPlant[], void, undefined> {
  let { limit: left } = query;
  let next = store.list(query);
  for (;;) {
    const page = await next;
    const last = page.at(-1);
    if (last === undefined) return;
    left -= page.length;
    if (left > 0) {
      next = store.list({ ...query, after: last.id, limit: left });
      // A caller that stops here never sees its failure.
      next.catch(() => undefined);
    }
    yield page;
    if (left === 0) return;
  }
}
