/** A journal of requests, for tests of clients. Only the library has one. */
import { isError } from "../core/messages.ts";
import type { SuccessfulResult } from "../core/store.ts";
import type { Handler } from "./handler.ts";
import { type HttpHeaders, type ServerRequest, toPath } from "./request.ts";

/** A request and its response. */
export interface JournalEntry {
  /** When the head of the request had arrived. */
  readonly receivedAt: Date;
  /** The header `X-Request-Id` of the response, and the id in the log. */
  readonly requestId: string;
  /** Method, such as `POST`. */
  readonly method: string;
  /** Path as the client wrote it, without the query. */
  readonly path: string;
  /** By lower-case name, without `authorization`, `proxy-authorization` and `cookie`. The values of a repeated header are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first 64 KiB of the body. Absent if the store rejected the request without reading its body. */
  readonly body?: string;
  /** Status of the response. */
  readonly status: number;
  /** Number of the Error in the response. */
  readonly error?: number;
  /** Result of a create: `created`, `unchanged` or `replaced`. */
  readonly result?: SuccessfulResult;
  /** False if a fault dropped or cut the response, or if the connection was closed before. */
  readonly isSent: boolean;
}

const maxBodyBytes = 64 * 1024;
const secretHeaders = new Set(["authorization", "proxy-authorization", "cookie"]);

/** Settles one call of {@link Journal.next}. */
type Waiter = (result: JournalEntry | Error) => void;

/** Keeps the newest requests, in the order of their responses. */
export class Journal {
  readonly #maxEntries: number;
  readonly #bodies = new WeakMap<ServerRequest, string>();
  /** A ring: each entry over the limit takes the place of the oldest one. */
  #ring: JournalEntry[] = [];
  #count = 0;
  #clearedAtMs = Number.NEGATIVE_INFINITY;
  /** In the order of the calls. */
  readonly #waiters = new Set<Waiter>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Oldest first. */
  get entries(): readonly JournalEntry[] {
    const oldest = this.#count % this.#maxEntries;
    return [...this.#ring.slice(oldest), ...this.#ring.slice(0, oldest)];
  }

  /** Forgets all requests, those too whose response is not sent yet. */
  clear(): void {
    this.#ring = [];
    this.#count = 0;
    this.#clearedAtMs = performance.now();
  }

  /** Resolves with the next request. @throws Error if none comes in time, or the journal is closed */
  next(timeoutMs: number): Promise<JournalEntry> {
    return new Promise((resolve, reject) => {
      const settle: Waiter = (result) => {
        clearTimeout(timer);
        this.#waiters.delete(settle);
        if (isError(result)) reject(result);
        else resolve(result);
      };
      const timer = setTimeout(() => {
        settle(new Error(`no request came within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiters.add(settle);
    });
  }

  /** Rejects all calls of {@link next}. */
  close(): void {
    for (const settle of this.#waiters) settle(new Error("the store was closed"));
  }

  /** Keeps the beginning of a body for the record of its request, without a character that is cut. */
  readonly addBody = (request: ServerRequest, body: Uint8Array): void => {
    const start = body.subarray(0, maxBodyBytes);
    this.#bodies.set(request, new TextDecoder().decode(start, { stream: true }));
  };

  #add(entry: JournalEntry): void {
    this.#ring[this.#count++ % this.#maxEntries] = entry;
    const [settle] = this.#waiters;
    settle?.(entry);
  }

  /** Returns a handler that does the same, and records each request. Bytes that are not a request are not recorded. */
  watch(handler: Handler): Handler {
    return {
      ...handler,
      report: (request, response, isAborted) => {
        handler.report(request, response, isAborted);
        if (request === undefined || request.receivedAtMs < this.#clearedAtMs) return;
        const body = this.#bodies.get(request);
        const { requestId, status, error, result, lost } = response;
        this.#add({
          receivedAt: new Date(Date.now() - (performance.now() - request.receivedAtMs)),
          requestId,
          method: request.method,
          path: toPath(request.target),
          headers: toPlainHeaders(request.headers),
          ...(body !== undefined && { body }),
          status,
          ...(error !== undefined && { error }),
          ...(result !== undefined && { result }),
          isSent: !isAborted && lost === undefined,
        });
      },
    };
  }
}

function toPlainHeaders(headers: HttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => !secretHeaders.has(name));
  return Object.fromEntries(entries) as Record<string, string>;
}
