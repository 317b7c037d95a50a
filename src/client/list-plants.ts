/** Lists the plants of a store over HTTP, page by page. */
import type { NewPlant } from "../core/plant.ts";
import { parsePlants } from "../core/read-plant.ts";
import {
  type ErrorResponse,
  parseError,
  readHeader,
  type Retry,
  type SendPlantOptions,
  sendWithRetries,
} from "./create-plant.ts";
import type { ClientResponse } from "./http-request.ts";
import {
  NotAPlantStoreError,
  PageTooLargeError,
  ResponseTooLongError,
  StoppedError,
} from "./results.ts";

/** Maximum number of plants in a page of a plant store. */
export const maxPagePlants = 1000;

/** Limit for a page in bytes. A page of a plant store has about 1 MiB, or one plant. */
const maxPageBytes = 16 * 1024 * 1024;

/** Selects a page. */
export interface PageQuery {
  /** Selects only plants with a larger id. */
  readonly after?: bigint | undefined;
  /** 1 … {@link maxPagePlants}. */
  readonly limit: number;
}

/** A page. */
interface Page {
  readonly ok: true;
  readonly plants: readonly NewPlant[];
  /** True if more plants follow it. */
  readonly hasMore: boolean;
}

/**
 * Lists one page.
 *
 * @param onRetry called for each failed attempt before its retry
 * @throws UnavailableError if the last attempt got no response of the store
 * @throws NotAPlantStoreError if another server responded
 * @throws PageTooLargeError
 */
export async function listPage(
  { after, limit }: PageQuery,
  options: SendPlantOptions,
  onRetry?: (retry: Retry) => void,
): Promise<(Page | ErrorResponse) & { readonly attempts: number }> {
  const { "content-type": _, ...headers } = options.request.headers;
  const query = `?limit=${limit}${after === undefined ? "" : `&after=${after}`}`;
  const request = { ...options.request, headers, url: options.request.url + query };

  const parse = (response: ClientResponse): Page | ErrorResponse => {
    const error = parseError(response, request, 200);
    if (error !== undefined) return error;
    const plants = parsePlants(response.body);
    if (plants === undefined) {
      throw new NotAPlantStoreError(request.url, "HTTP 200, JSON without plants that have ids");
    }
    let last = after;
    for (const { id } of plants) {
      if (last !== undefined && id <= last) {
        throw new NotAPlantStoreError(
          request.url,
          "HTTP 200, plants in another order than that of their ids",
        );
      }
      last = id;
    }
    const link = readHeader(response.headers, "link") ?? "";
    return { ok: true, plants, hasMore: plants.length > 0 && /;\s*rel="?next"?/.test(link) };
  };

  try {
    return await sendWithRetries(
      { ...request, method: "GET", body: "", maxResponseBytes: maxPageBytes },
      parse,
      options,
      onRetry,
    );
  } catch (error) {
    if (!(error instanceof ResponseTooLongError)) throw error;
    throw new PageTooLargeError(after, { cause: error });
  }
}

/**
 * Lists plants in the order of their ids, each once. One page is in memory at a time, and no page is empty. A page is one
 * snapshot, several are not.
 *
 * @param query `limit` is that of each page
 * @throws StoppedError if the store responds with an Error
 * @throws as {@link listPage}
 */
export async function* listPages(
  { after, limit }: PageQuery,
  options: SendPlantOptions,
  onRetry?: (retry: Retry) => void,
): AsyncGenerator<readonly NewPlant[], void, undefined> {
  let last = after;
  for (;;) {
    const page = await listPage({ after: last, limit }, options, onRetry);
    if (!page.ok) throw new StoppedError(page, "the plants cannot be listed");
    if (page.plants.length > 0) yield page.plants;
    if (!page.hasMore) return;
    last = page.plants.at(-1)?.id;
  }
}
