/** Responds to requests without a socket: the Request and the Response of the Fetch standard. */
import { serverStopping } from "../failure.ts";
import { isDropped, toHeaderPairs } from "../response.ts";
import type { TransportContext } from "./connection.ts";
import { FetchRequest } from "./fetch-request.ts";

/**
 * Responds to a request as the server does over HTTP. Takes the arguments of the global `fetch`.
 *
 * @throws TypeError if the body was read before, or the response is dropped on purpose; the error of the body's stream
 * @throws the reason of the request's signal once that is aborted; the plant may or may not exist
 */
export type Fetch = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

/** The requests of one server that come without a socket. */
export class FetchTransport {
  readonly #context: TransportContext;
  readonly #requestTimeoutMs: number;
  readonly #pending = new Map<FetchRequest, Promise<Response>>();

  /** @param requestTimeoutMs time for a complete body to arrive */
  constructor(context: TransportContext, requestTimeoutMs: number) {
    this.#context = context;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  readonly fetch: Fetch = async (input, init) => {
    const isRequest = input instanceof Request && init === undefined;
    const request = isRequest ? input : new Request(input, init);
    if (request.bodyUsed || request.body?.locked === true) {
      throw new TypeError("the body of the request was read before: pass a clone()");
    }
    request.signal.throwIfAborted();
    const { admission, stoppedAtMs } = this.#context;
    const isLate = stoppedAtMs() <= performance.now();
    const fetchRequest = new FetchRequest(request, admission, isLate, this.#requestTimeoutMs);
    const response = this.#respond(fetchRequest, request.signal);
    this.#pending.set(fetchRequest, response);
    try {
      return await response;
    } finally {
      this.#pending.delete(fetchRequest);
    }
  };

  /**
   * Waits for the responses in flight.
   *
   * @param timeoutMs requests in flight for longer get 50300
   */
  async stop(timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const request of this.#pending.keys()) {
        request.settle(serverStopping);
        request.evict(serverStopping);
      }
    }, timeoutMs);
    await Promise.allSettled(this.#pending.values());
    clearTimeout(timer);
  }

  async #respond(request: FetchRequest, signal: AbortSignal): Promise<Response> {
    const { admission, handler } = this.#context;
    const abort = (): void => request.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    void handler
      .handle(request)
      .then(request.settle)
      .finally(() => admission.release(request));
    const response = request.result.then((result) => {
      const isAborted = signal.aborted;
      const message = handler.complete(request, result, performance.now(), isAborted, "");
      if (isDropped(result) && !isAborted) {
        throw new TypeError("fetch failed: the response was dropped on purpose");
      }
      const hasBody = request.method !== "HEAD" && message.status !== 204;
      return new Response(hasBody ? message.body : null, {
        status: message.status,
        headers: toHeaderPairs(message),
      });
    });
    try {
      return await Promise.race([response, request.failure]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}
