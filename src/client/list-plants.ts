/** Lists the plants of a store over HTTP, page by page. */
import type { NewPlant } from "../core/plant.ts";
import { parsePlants } from "../core/read-plant.ts";
import { parseError, type SendPlantOptions, sendWithRetries } from "./create-plant.ts";
import {
  NotAPlantStoreError,
  PageTooLargeError,
  ResponseTooLongError,
  type StopCause,
  StoppedError,
} from "./results.ts";

/** Maximum number of plants in a page of a plant store. */
export const maxPagePlants = 1000;

/** Limit for a page in bytes. A page of a plant store has about 1 MiB, or one plant. */
const maxPageBytes = 16 * 1024 * 1024;

export interface PageQuery {
  /** Selects only plants with a larger id. */
  readonly after?: bigint | undefined;
  /** 1 … {@link maxPagePlants}. */
  readonly limit: number;
}

/**
 * Lists one page.
 *
 * @throws UnavailableError if the last attempt got no response of the store
 * @throws NotAPlantStoreError if another server responded
 * @throws PageTooLargeError
 */
export async function listPage(
  { after, limit }: PageQuery,
  { request: { headers: createHeaders, url: baseUrl, ca }, ...options }: SendPlantOptions,
): Promise<{ readonly ok: true; readonly plants: readonly NewPlant[] } | StopCause> {
  const { "content-type": _, ...headers } = createHeaders;
  const query = `?limit=${limit}${after === undefined ? "" : `&after=${after}`}`;
  const request = { url: baseUrl + query, headers, ca };
  try {
    return await sendWithRetries(
      { ...request, method: "GET", body: "", maxResponseBytes: maxPageBytes },
      (response) =>
        parseError(response, request, 200) ?? {
          ok: true,
          plants: parsePage(response.body, after, request.url),
        },
      options,
    );
  } catch (error) {
    if (!(error instanceof ResponseTooLongError)) throw error;
    throw new PageTooLargeError(after, { cause: error });
  }
}

/** @throws NotAPlantStoreError unless these are plants with ids that ascend from `after` */
function parsePage(body: Uint8Array, after: bigint | undefined, url: string): readonly NewPlant[] {
  const plants = parsePlants(body);
  if (plants === undefined) {
    throw new NotAPlantStoreError(url, "HTTP 200, JSON without plants that have ids");
  }
  let last = after;
  for (const { id } of plants) {
    if (last !== undefined && id <= last) {
      throw new NotAPlantStoreError(
        url,
        "HTTP 200, plants in another order than that of their ids",
      );
    }
    last = id;
  }
  return plants;
}

/**
 * Lists plants in the order of their ids, each once. One page is in memory at a time, and no page is empty. A page is one
 * snapshot, several are not. Only an empty page is the end: a page may be short for its size, and a proxy may drop the header
 * Link.
 *
 * @param query `limit` is that of each page
 * @throws StoppedError if the store responds with an Error
 * @throws as {@link listPage}
 */
export async function* listPages(
  { after, limit }: PageQuery,
  options: SendPlantOptions,
): AsyncGenerator<readonly NewPlant[], void, undefined> {
  let last = after;
  for (;;) {
    const page = await listPage({ after: last, limit }, options);
    if (!page.ok) throw new StoppedError(page, "the plants cannot be listed");
    if (page.plants.length === 0) return;
    yield page.plants;
    last = page.plants.at(-1)?.id;
  }
}
