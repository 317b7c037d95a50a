/** Requests with a function like the global `fetch`: for stores without a socket, for proxies, traces and mocks of a program. */
import { onAbort } from "../core/attempt.ts";
import { isBuiltIn, isError } from "../core/messages.ts";
import { type ClientRequest, type Post, readResponseBody, classifyError } from "./http-request.ts";
import { createAttemptTimeout, NotAPlantStoreError, UnavailableError } from "./results.ts";

/** A function that sends a request, such as the global `fetch`. It rejects with a TypeError if it gets no response. */
export type Fetch = (url: string, init: RequestInit) => Response | Promise<Response>;

/** Creates a Post that sends its requests with `fetch`. It needs no pool: `fetch` decides about connections. */
export function createFetchPost(fetch: Fetch): Post {
  return async (request) => {
    const { method = "POST", url, headers, body, timeoutMs, signal } = request;
    signal?.throwIfAborted();
    const stopping = new AbortController();
    const timer = setTimeout(() => {
      stopping.abort(createAttemptTimeout(url, timeoutMs));
    }, timeoutMs);
    const release = onAbort(signal, () => stopping.abort());
    const init: RequestInit = {
      method,
      headers,
      // fetch rejects a GET with a body, even an empty one.
      body: method === "POST" ? body : null,
      credentials: "omit",
      redirect: "manual",
      signal: stopping.signal,
    };
    const exchange = async () => {
      const response: unknown = await fetch(url, init);
      if (!isResponse(response)) return undefined;
      // Without streams, as in React Native, there is no such member.
      const chunks = (
        "body" in response
          ? (response.body ?? [])
          : [new Uint8Array(await (response as Response).arrayBuffer())]
      ) as Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
      // Browsers hide the response.
      if (response.type === "opaqueredirect") {
        throw new NotAPlantStoreError(url, "it redirects, and redirects are not followed");
      }
      // fetch has decoded the body.
      const { "content-encoding": _, ...rest } = Object.fromEntries(response.headers);
      const head = { status: response.status, headers: rest };
      return { ...head, body: await readResponseBody(chunks, head, request) };
    };
    const response = Promise.race([toRejection(stopping.signal), exchange()]);
    try {
      const received = await response.catch((error: unknown) => {
        signal?.throwIfAborted();
        throw stopping.signal.aborted ? stopping.signal.reason : classifyFetchError(error, request);
      });
      if (received === undefined) throw new TypeError("fetch must return a Response");
      return received;
    } finally {
      clearTimeout(timer);
      release();
    }
  };
}

/** The class is not checked: a polyfill has its own. */
function isResponse(value: unknown): value is Response {
  return typeof value === "object" && value !== null && "status" in value && "headers" in value;
}

/** Rejects once a signal is aborted: a function may ignore it. */
function toRejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
}

/** Maps the error of a request without a response. Other errors are bugs of the function, and do not change. */
function classifyFetchError(error: unknown, request: ClientRequest): unknown {
  // The fetch of Node rejects with a TypeError whose cause is the error of the connection.
  const cause = isError(error) && isError(error.cause) ? error.cause : error;
  const known = classifyError(cause, request);
  if (known !== cause) return known;
  if (!isError(error) || !(error.name === "TypeError" || isBuiltIn(error, "DOMException"))) {
    return error;
  }
  return new UnavailableError("lost", request.url, error.message, { cause: error });
}
