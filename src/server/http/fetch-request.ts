/** A request without a socket: its head, and its body while the handler reads it. */
import type { RequestError } from "../../core/errors.ts";
import type { Admission } from "../admission.ts";
import {
  createBodyCollector,
  requestCut,
  type BodyResult,
  HttpRequest,
  type RequestHead,
  requestTimedOut,
  toRequestHead,
} from "../request.ts";
import type { RequestResult } from "../response.ts";

/** A request of the Fetch standard as the handler sees it. */
export class FetchRequest extends HttpRequest {
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
        if (!(value instanceof Uint8Array)) {
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
