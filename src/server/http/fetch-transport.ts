/** Responds to requests without a socket: the Request and the Response of the Fetch standard. */
import type { RequestError } from "../../core/errors.ts";
import { serverStopping, unexpectedFailure } from "../failure.ts";
import { toRequestRecord } from "../ops/request-record.ts";
import { type HandledRequest, toErrorResponse, toHeaderPairs, toMessage } from "../response.ts";
import { toRequestId } from "../request-id.ts";
import { FetchRequest } from "./fetch-request.ts";
import type { TransportContext } from "./transport.ts";

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
      const handled = this.#toHandled(serverStopping);
      for (const request of this.#pending.keys()) {
        request.settle(handled);
        request.evict(serverStopping);
      }
    }, timeoutMs);
    await Promise.allSettled(this.#pending.values());
    clearTimeout(timer);
  }

  async #respond(request: FetchRequest, signal: AbortSignal): Promise<Response> {
    const startedAtMs = performance.now();
    const { admission, handler, onError } = this.#context;
    const requestId = toRequestId(request.headers);
    const abort = (): void => request.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    void handler(request)
      .catch((error: unknown) => {
        onError(error);
        return this.#toHandled(unexpectedFailure);
      })
      .then(request.settle)
      .finally(() => admission.release(request));
    const response = request.handled.then((handled) => {
      const message = toMessage(handled.response, requestId, "");
      const { bodyBytes, status } = message;
      const atMs = performance.now();
      const isAborted = signal.aborted;
      const isDropped = handled.response.isDropped === true && !isAborted;
      const sent = { atMs, bodyBytes, isAborted, isDropped };
      this.#report({ request, requestId, startedAtMs }, handled, sent);
      if (isDropped) throw new TypeError("fetch failed: the response was dropped on purpose");
      const hasBody = request.method !== "HEAD" && status !== 204;
      return new Response(hasBody ? message.body : null, {
        status,
        headers: toHeaderPairs(message),
      });
    });
    try {
      return await Promise.race([response, request.failure]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  #toHandled(error: RequestError): HandledRequest {
    return { response: toErrorResponse(error, this.#context.statusMode), operation: undefined };
  }

  #report(...args: Parameters<typeof toRequestRecord>): void {
    const { onError, onResponse } = this.#context;
    try {
      onResponse?.(toRequestRecord(...args));
    } catch (bug) {
      onError(bug);
    }
  }
}
