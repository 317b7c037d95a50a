/** Requests without a socket: the Request and the Response of the Fetch standard. */
import type { RequestError } from "../../core/errors.ts";
import { isBytes } from "../../core/messages.ts";
import type { Admission } from "../admission.ts";
import type { ReceivedCall } from "../handler.ts";
import {
  type HttpHeaders,
  IncomingBody,
  noneRepeated,
  requestIncomplete,
  requestTimedOut,
  type ServerRequest,
  toHeadError,
  type UseBody,
} from "../request.ts";
import { type CompleteResponse, serverStopping } from "../response.ts";
import type { ServerContext } from "./http-server.ts";

/**
 * Responds to a request as the server does over HTTP. Takes the arguments of the global `fetch`.
 *
 * @throws TypeError if the body was read before, or the response is dropped on purpose; the error of the body's stream
 * @throws the reason of the request's signal once that is aborted; the plant may or may not exist
 */
export type ServerFetch = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

/** The requests of one server that come without a socket. */
export class FetchTransport {
  readonly #context: ServerContext;
  readonly #requestTimeoutMs: number;
  readonly #pending = new Map<ReceivedCall<FetchRequest>, Promise<Response>>();

  /** @param requestTimeoutMs time for a complete body to arrive */
  constructor(context: ServerContext, requestTimeoutMs: number) {
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
    const { admission, handler, stoppedAtMs } = this.#context;
    const fetchRequest = new FetchRequest(request, admission, this.#requestTimeoutMs);
    if (stoppedAtMs() <= performance.now()) fetchRequest.client.givenUp = serverStopping;
    const call = handler.receive(fetchRequest);
    const response = this.#respond(call, request.signal);
    this.#pending.set(call, response);
    return response;
  };

  /** Waits for the responses in flight. @param timeoutMs requests in flight for longer get 50300 or 50302 */
  async stop(timeoutMs: number): Promise<void> {
    const { handler } = this.#context;
    const timer = setTimeout(() => {
      for (const call of this.#pending.keys()) {
        call.request.settle(handler.giveUp(call));
        call.request.giveUp(serverStopping);
      }
    }, timeoutMs);
    await Promise.allSettled(this.#pending.values());
    clearTimeout(timer);
  }

  async #respond(call: ReceivedCall<FetchRequest>, signal: AbortSignal): Promise<Response> {
    const { request } = call;
    const { admission, handler } = this.#context;
    const abort = (): void => request.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    void handler
      .handle(call)
      .then(request.settle)
      .finally(() => admission.release(request));
    const response = request.response.then((result) => {
      const isAborted = signal.aborted;
      handler.report(request, result, isAborted);
      const { body, headers, lost, status } = result;
      // Without a body, nothing is left of a response that is cut.
      if (lost !== undefined && (lost === "all" || body === "") && !isAborted) {
        throw new TypeError("fetch failed: the response was dropped on purpose");
      }
      const init = { status, headers: [...headers, ["Date", new Date().toUTCString()]] };
      const hasBody = request.method !== "HEAD" && status !== 204;
      const content = lost === "half" ? toHalf(Buffer.from(body)) : body;
      return new Response(hasBody ? content : null, init as ResponseInit);
    });
    try {
      return await Promise.race([response, request.failure]);
    } finally {
      signal.removeEventListener("abort", abort);
      this.#pending.delete(call);
    }
  }
}

/** A body that fails in the middle. */
function toHalf(body: Buffer): ReadableStream<Uint8Array> {
  const parts = [body.subarray(0, body.length / 2)];
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part === undefined) controller.error(new TypeError("terminated: cut on purpose"));
      else controller.enqueue(part);
    },
  });
}

/** A request of the Fetch standard as the handler sees it. */
class FetchRequest implements ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly repeated = noneRepeated;
  readonly error: RequestError | undefined;
  readonly receivedAtMs = performance.now();
  readonly client: { givenUp: RequestError | undefined; readonly signal: AbortSignal };
  readonly isOfProgram = true;
  heldBytes = 0;
  isPage = false;
  /** Resolves with the first response that {@link settle} receives. */
  readonly response: Promise<CompleteResponse>;
  /** Rejects if the request is aborted or its body fails. */
  readonly failure: Promise<never>;
  readonly #stream: ReadableStream<unknown> | null;
  readonly #body: IncomingBody;
  readonly #requestTimeoutMs: number;
  /** Resolves once the body is given up. */
  readonly #interrupted: Promise<void>;
  #interrupt: () => void = () => {};
  #resolve: (response: CompleteResponse) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(request: Request, admission: Admission, requestTimeoutMs: number) {
    const { pathname, search, host } = new URL(request.url);
    const entries = [["host", host] as const, ...request.headers];
    this.method = request.method;
    this.target = pathname + search;
    this.headers = Object.fromEntries(entries);
    const { target: url, headers } = this;
    const head = { httpVersion: "1.1", url, rawHeaders: entries.flat(), headers };
    this.error = toHeadError(head, noneRepeated);
    this.client = { givenUp: undefined, signal: request.signal };
    this.#stream = request.body;
    // Its stream ends the body, whatever a Content-Length says.
    this.#body = new IncomingBody(this, {}, admission);
    this.#requestTimeoutMs = requestTimeoutMs;
    this.response = new Promise((resolve) => (this.#resolve = resolve));
    this.failure = new Promise((_, reject) => (this.#reject = reject));
    this.#interrupted = new Promise((resolve) => (this.#interrupt = resolve));
  }

  readBody<Result>(maxBytes: number, use: UseBody<Result>): Result | Promise<Result> {
    const result = this.#body.read(maxBytes, use);
    void this.#receive().catch((error: unknown) => {
      this.#reject(error);
      this.#body.end(requestIncomplete);
    });
    return result;
  }

  async #receive(): Promise<void> {
    if (this.#stream === null) {
      this.#body.end();
      return;
    }
    const reader = this.#stream.getReader();
    const timer = setTimeout(() => this.evict(requestTimedOut), this.#requestTimeoutMs);
    try {
      for (;;) {
        const piece = await Promise.race([reader.read(), this.#interrupted]);
        if (piece === undefined) return;
        if (piece.done) break;
        if (!isBytes(piece.value)) {
          throw new TypeError("the body is not a stream of bytes: its chunks must be Uint8Arrays");
        }
        if (!this.#body.add(piece.value)) return;
      }
      this.#body.end();
    } finally {
      clearTimeout(timer);
      // The caller of `fetch` decides about the rest of the body.
      const { signal } = this.client;
      if (signal.aborted) reader.cancel(signal.reason).catch(() => {});
      else reader.releaseLock();
    }
  }

  evict(error: RequestError): void {
    this.#body.end(error);
    this.#interrupt();
  }

  /** From now on, nothing more of it is performed. */
  giveUp(error: RequestError): void {
    this.client.givenUp ??= error;
    this.evict(error);
  }

  readonly settle = (response: CompleteResponse): void => this.#resolve(response);

  abort(reason: unknown): void {
    this.giveUp(requestIncomplete);
    if (this.#stream?.locked === false) this.#stream.cancel(reason).catch(() => {});
    this.#reject(reason);
  }
}
