/** Connections for one request, or for many: a single one does not wait for the pool to load. */
import type { Connections, HttpAnswer, HttpRequest } from "./message.ts";
import { post } from "./post.ts";

/**
 * Connections for requests that may arrive twice. The first request has one of its own, and ends with its signal too; the
 * others share those of a pool.
 *
 * @param origin with which the URL of each request begins
 * @param maxRequests under way at a time; more of them wait
 * @param timeoutMs for a connection to come about
 */
export function openConnections(
  origin: string,
  maxRequests: number,
  timeoutMs: number,
): Connections {
  const closing = new AbortController();
  let isFirst = true;
  let loading: Promise<Connections> | undefined;
  let pool: Connections | undefined;

  async function load(): Promise<Connections> {
    const { openPool } = await import("./pool.ts");
    closing.signal.throwIfAborted();
    pool = openPool(origin, maxRequests, timeoutMs);
    return pool;
  }

  function postFirst(request: HttpRequest): Promise<HttpAnswer> {
    isFirst = false;
    const signals = request.signal === undefined ? [] : [request.signal];
    return post({ ...request, signal: AbortSignal.any([closing.signal, ...signals]) });
  }

  async function postLater(request: HttpRequest): Promise<HttpAnswer> {
    const loaded = await (loading ??= load());
    request.signal?.throwIfAborted();
    return loaded.post(request);
  }

  return {
    post(request) {
      if (pool !== undefined) return pool.post(request);
      return isFirst ? postFirst(request) : postLater(request);
    },
    async close() {
      closing.abort(new Error("the connections are closed"));
      await pool?.close();
    },
  };
}
