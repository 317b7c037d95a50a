/** How a client of a program sends its requests. The build for browsers has `transport.browser.ts` instead. */
import type { CreateRequest } from "../client/create-plant.ts";
import type { Fetch } from "../client/fetch-post.ts";
import type { ClientConnections, Post } from "../client/http-request.ts";

/** Returns the function that sends requests by default; undefined for sockets. */
export function getDefaultFetch(): Fetch | undefined {
  return undefined;
}

/** Loads the function that sends one request. A program that only starts a server needs no HTTP client. */
export async function loadPost(fetch: Fetch | undefined): Promise<Post> {
  if (fetch === undefined) return (await import("../client/http-request.ts")).post;
  return (await import("../client/fetch-post.ts")).createFetchPost(fetch);
}

/** Opens the connections of a bulk create. */
export async function openTransport(
  fetch: Fetch | undefined,
  { url, ca }: CreateRequest,
  { concurrency, timeoutMs }: { readonly concurrency: number; readonly timeoutMs: number },
): Promise<ClientConnections> {
  if (fetch !== undefined) return { post: await loadPost(fetch), close: async () => {} };
  if (concurrency === 1) return (await import("../client/http-request.ts")).openKeptConnection(url);
  const { openPool } = await import("../client/http-pool.ts");
  return openPool(url, concurrency, timeoutMs, ca);
}
