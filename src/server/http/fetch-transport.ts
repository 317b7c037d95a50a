/** The transport without a socket: the Request and the Response of the Fetch standard. */
import type { RequestError } from "../../core/errors.ts";
import { isBytes } from "../../core/messages.ts";
import type { Admission } from "../admission.ts";
import {
  type BodyResult,
  createBodyCollector,
  ServerRequest,
  requestCut,
  type RequestHead,
  requestTimedOut,
  toRequestHead,
} from "../request.ts";
import { isDropped, type RequestResult, serverStopping, toHeaderPairs } from "../response.ts";
import type { TransportContext } from "./connection.ts";

/**
 * Responds to a request as the server does over HTTP. Takes the arguments of the global `fetch`.
 *
 * @throws TypeError if the body was read before, or the response is dropped on purpose; the error of the body's stream
 * @throws the reason of the request's signal once that is aborted; the plant may or may not exist
 */
export type ServerFetch = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

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

  readonly fetch: ServerFetch = async (input, init) => {
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

  /** Waits for the responses in flight. @param timeoutMs requests in flight for longer get 50300 */
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

/** A request of the Fetch standard as the handler sees it. */
export class FetchRequest extends ServerRequest {
  readonly isLate: boolean;
  /** Resolves with the first result that {@link settle} receives. */
  readonly result: Promise<RequestResult>;
  /** Rejects if the request is aborted or its body fails. */
  readonly failure: Promise<never>;
  readonly #admission: Admission;
  readonly #body: ReadableStream<unknown> | null;
  readonly #requestTimeoutMs: number;
  #reader: ReadableStreamDefaultReader<unknown> | undefined;
  #bodyError: RequestError | undefined;
  #resolve: (result: RequestResult) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(request: Request, admission: Admission, isLate: boolean, requestTimeoutMs: number) {
    super(toHead(request));
    this.isLate = isLate;
    this.#admission = admission;
    this.#body = request.body;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.result = new Promise((resolve) => (this.#resolve = resolve));
    this.failure = new Promise((_, reject) => (this.#reject = reject));
  }

  async readBody(maxBytes: number): Promise<BodyResult> {
    if (this.#body === null) return new Uint8Array();
    const reader = this.#body.getReader();
    this.#reader = reader;
    const timer = setTimeout(() => this.evict(requestTimedOut), this.#requestTimeoutMs);
    try {
      const body = createBodyCollector(this, this.#admission, maxBytes);
      for (;;) {
        const { done, value } = await reader.read();
        if (this.#bodyError !== undefined) return this.#bodyError;
        if (done) return body.end();
        if (!isBytes(value)) {
          throw new TypeError("the body is not a stream of bytes: its chunks must be Uint8Arrays");
        }
        const error = body.add(value);
        if (error !== undefined) return error;
      }
    } catch (error) {
      if (this.#bodyError !== undefined) return this.#bodyError;
      this.#reject(error);
      return requestCut;
    } finally {
      clearTimeout(timer);
      // The caller of `fetch` decides about the rest of the body.
      reader.releaseLock();
      this.#reader = undefined;
    }
  }

  readonly settle = (result: RequestResult): void => this.#resolve(result);

  abort(reason: unknown): void {
    this.#bodyError = requestCut;
    (this.#reader ?? this.#body)?.cancel(reason).catch(() => {});
    this.#reject(reason);
  }

  evict(error: RequestError): void {
    this.#bodyError = error;
    // The read in progress rejects.
    this.#reader?.releaseLock();
  }
}

function toHead({ method, url, headers }: Request): RequestHead {
  const { pathname, search, host } = new URL(url);
  const entries = [["host", host] as const, ...headers];
  return toRequestHead({
    method,
    httpVersion: "1.1",
    url: pathname + search,
    rawHeaders: entries.flat(),
    headersDistinct: Object.fromEntries(entries.map(([name, value]) => [name, [value]])),
  });
}
