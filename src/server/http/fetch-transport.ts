/** Responds to requests without a socket: the Request and the Response of the Fetch standard. */
import { RequestError } from "../../core/errors.ts";
import type { Admission, ByteHolder } from "../admission.ts";
import { bodyTooLarge } from "../create-plant.ts";
import { unexpectedFailure } from "../failure.ts";
import type { HandledRequest } from "../handler.ts";
import {
  bodyEndedEarly,
  checkHead,
  type HttpHeaders,
  type HttpRequest,
  requestTimedOut,
  serverStopping,
} from "../request.ts";
import { toRequestRecord } from "../ops/request-record.ts";
import { toErrorResponse, toHeaderPairs, toMessage } from "../response.ts";
import { toRequestId } from "../request-id.ts";
import type { ConnectionContext } from "./connection.ts";

/**
 * Responds to a request as the server does over HTTP. Takes the arguments of the global `fetch`.
 *
 * @throws TypeError if the body was read before, or the response is dropped on purpose; the error of the body's stream
 * @throws the reason of the request's signal once that is aborted; the plant may or may not exist
 */
export type Fetch = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

/** The requests of one server that come without a socket. */
export class FetchTransport {
  readonly #context: ConnectionContext;
  readonly #requestTimeoutMs: number;
  readonly #pending = new Map<FetchRequest, Promise<Response>>();

  /** @param requestTimeoutMs time for a complete body to arrive */
  constructor(context: ConnectionContext, requestTimeoutMs: number) {
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
      const error = serverStopping();
      const handled = this.#toHandled(error);
      for (const request of this.#pending.keys()) {
        request.settle(handled);
        request.evict(error);
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

class FetchRequest implements HttpRequest, ByteHolder {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly error: RequestError | undefined;
  readonly isLate: boolean;
  heldBytes = 0;
  transferStartedAtMs = 0;
  /** Resolves with the first result that {@link settle} receives. */
  readonly handled: Promise<HandledRequest>;
  /** Rejects if the request is aborted or its body fails. */
  readonly failure: Promise<never>;
  readonly #admission: Admission;
  readonly #body: ReadableStream<unknown> | null;
  readonly #requestTimeoutMs: number;
  #reader: ReadableStreamDefaultReader<unknown> | undefined;
  #bodyError: RequestError | undefined;
  #resolve: (handled: HandledRequest) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(request: Request, admission: Admission, isLate: boolean, requestTimeoutMs: number) {
    const { pathname, search, host } = new URL(request.url);
    const entries = [["host", host] as const, ...request.headers];
    this.method = request.method;
    this.target = pathname + search;
    this.headers = Object.fromEntries(entries.map(([name, value]) => [name, [value]]));
    this.error = checkHead({
      httpVersion: "1.1",
      url: this.target,
      rawHeaders: entries.flat(),
      headersDistinct: this.headers,
    });
    this.isLate = isLate;
    this.#admission = admission;
    this.#body = request.body;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.handled = new Promise((resolve) => (this.#resolve = resolve));
    this.failure = new Promise((_, reject) => (this.#reject = reject));
  }

  async readBody(maxBytes: number): Promise<Uint8Array | RequestError> {
    if (this.#body === null) return new Uint8Array();
    const reader = this.#body.getReader();
    this.#reader = reader;
    const timer = setTimeout(() => this.evict(requestTimedOut()), this.#requestTimeoutMs);
    try {
      return await this.#readAll(reader, maxBytes);
    } catch (error) {
      if (this.#bodyError !== undefined) return this.#bodyError;
      this.#reject(error);
      return bodyEndedEarly();
    } finally {
      clearTimeout(timer);
      // The caller of `fetch` decides about the rest of the body.
      reader.releaseLock();
      this.#reader = undefined;
    }
  }

  readonly settle = (handled: HandledRequest): void => this.#resolve(handled);

  abort(reason: unknown): void {
    this.#bodyError = bodyEndedEarly();
    (this.#reader ?? this.#body)?.cancel(reason).catch(() => {});
    this.#reject(reason);
  }

  evict(error: RequestError): void {
    this.#bodyError = error;
    // The read in progress rejects.
    this.#reader?.releaseLock();
  }

  async #readAll(
    reader: ReadableStreamDefaultReader<unknown>,
    maxBytes: number,
  ): Promise<Uint8Array | RequestError> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (this.#bodyError !== undefined) return this.#bodyError;
      if (done) {
        this.#admission.endTransfer(this);
        return Buffer.concat(chunks);
      }
      if (!(value instanceof Uint8Array)) {
        throw new TypeError("the body is not a stream of bytes: its chunks must be Uint8Arrays");
      }
      length += value.length;
      chunks.push(value);
      const error =
        length > maxBytes
          ? RequestError.naming([bodyTooLarge(maxBytes)])
          : this.#admission.hold(this, value.length);
      if (error !== undefined) return error;
      this.#admission.startTransfer(this);
    }
  }
}
