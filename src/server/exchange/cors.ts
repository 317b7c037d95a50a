/** Lets pages of other origins use the server from a browser (the CORS protocol of the Fetch standard). */
import type { Answer } from "./reply.ts";

/** Adds to an answer what a page of that origin needs to read it. */
export type CorsPolicy = (answer: Answer, origin: string | undefined) => Answer;

/** What a page may read of an answer beside its body. */
const exposedHeaders = "X-Plantstore-Result, X-Request-Id, Retry-After, WWW-Authenticate";
/** What it may send. A token is said with each request, so that nothing needs a browser's own credentials. */
const requestHeaders = "Authorization, Content-Type, X-Request-Id";
/** Seconds that a browser need not ask again; no browser lets it be much more. */
const maxAge = "7200";

/**
 * The policy for these origins.
 *
 * @param origins as a browser writes them, or `*` for any
 * @returns undefined when there are none: then no answer has a header of CORS
 */
export function createCorsPolicy(origins: readonly string[]): CorsPolicy | undefined {
  if (origins.length === 0) return undefined;
  if (origins.includes("*")) return (answer) => withHeaders(answer, toCorsHeaders(answer, "*"));
  const allowed = new Set(origins);
  const vary = { Vary: "Origin" };
  return (answer, origin) => {
    if (origin === undefined || !allowed.has(origin)) return withHeaders(answer, vary);
    return withHeaders(answer, { ...vary, ...toCorsHeaders(answer, origin) });
  };
}

function withHeaders(answer: Answer, headers: Answer["headers"]): Answer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** A browser asks with OPTIONS before it sends what it would not send by itself. */
function toCorsHeaders({ status, headers }: Answer, origin: string): Answer["headers"] {
  if (status !== 204) {
    return {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers": exposedHeaders,
    };
  }
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Methods": headers["Allow"] ?? "",
    "Access-Control-Allow-Headers": requestHeaders,
    "Access-Control-Max-Age": maxAge,
  };
}
