/** How a client in a browser sends its requests: always with `fetch`, trusting the authorities of the browser. */
import { createFetchPost, type Fetch } from "../client/fetch-post.ts";
import type { ClientConnections, Post } from "../client/http-request.ts";
import { attemptOptions } from "./client-options.ts";

const none = (): undefined => undefined;

/** Options of a client, besides the URL and the token. `createClient` rejects certificates before it checks options. */
export const clientOptions = {
  ...attemptOptions,
  ca: { type: { parse: none, check: none, format: () => "none" }, default: undefined },
} as const;

/** The `fetch` of the browser, also one that a mock installs later. */
const globalFetch: Fetch = (url, init) => globalThis.fetch(url, init);

/** Returns the function that sends requests by default. */
export function getDefaultFetch(): Fetch {
  return globalFetch;
}

/** Returns the function that sends one request, without the headers that only programs outside of browsers send. */
export async function loadPost(fetch: Fetch): Promise<Post> {
  if (fetch === globalFetch && typeof globalThis.fetch !== "function") {
    throw new TypeError("the global fetch is missing: pass a function like it as fetch");
  }
  const post = createFetchPost(fetch);
  return (request) => {
    const { "user-agent": _, "accept-encoding": __, ...headers } = request.headers;
    return post({ ...request, headers });
  };
}

/** Returns what a bulk create sends its requests with. */
export async function openTransport(fetch: Fetch): Promise<ClientConnections> {
  return { post: await loadPost(fetch), close: async () => {} };
}
