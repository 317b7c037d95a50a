/** Lets pages of other origins use the server from a browser (the CORS protocol of the Fetch standard). */
import { resultHeader } from "../core/contract.ts";
import { type HttpResponse, toHeader } from "./response.ts";

/** Adds the headers that a page of this origin needs to read a response. */
export type CorsPolicy = (response: HttpResponse, origin: string | undefined) => HttpResponse;

/** Response headers that a page may read. */
const exposedHeaders = `${resultHeader}, X-Request-Id, Retry-After, WWW-Authenticate`;
/** Request headers that a page may send. The token is a header, so credentials of the browser are not needed. */
const requestHeaders = "Authorization, Content-Type, X-Request-Id, Traceparent, Tracestate";
/** Seconds for which a browser may cache a preflight response; browsers allow little more. */
const maxAge = "7200";

/**
 * Creates the policy for a list of origins.
 *
 * @param origins as a browser writes them, or `*` for any
 * @returns undefined for an empty list: responses then have no CORS headers
 */
export function createCorsPolicy(origins: readonly string[]): CorsPolicy | undefined {
  if (origins.length === 0) return undefined;
  if (origins.includes("*")) {
    return (response) => withHeaders(response, toCorsHeaders(response, "*"));
  }
  const allowed = new Set(origins);
  return (response, origin) => {
    const isAllowed = origin !== undefined && allowed.has(origin);
    const headers = isAllowed ? toCorsHeaders(response, origin) : "";
    return withHeaders(response, toHeader("Vary", "Origin") + headers);
  };
}

function withHeaders(response: HttpResponse, headers: string): HttpResponse {
  return { ...response, headers: response.headers + headers };
}

/** A browser sends a preflight with OPTIONS, whose response has status 204. */
function toCorsHeaders({ status, headers }: HttpResponse, origin: string): string {
  const allowOrigin = toHeader("Access-Control-Allow-Origin", origin);
  if (status !== 204) {
    return allowOrigin + toHeader("Access-Control-Expose-Headers", exposedHeaders);
  }
  const [, allow = ""] = /^Allow: (.*)/m.exec(headers) ?? [];
  return (
    allowOrigin +
    toHeader("Access-Control-Allow-Methods", allow) +
    toHeader("Access-Control-Allow-Headers", requestHeaders) +
    toHeader("Access-Control-Max-Age", maxAge)
  );
}
