/** A pool of connections for bulk creates, pages and deletions. Each connection has several requests in flight. */
import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
// Not the global function, which tests may replace with a fake.
import { setImmediate } from "node:timers";
import { buildConnector, errors, Pool } from "undici";
import { onAbort } from "../core/attempt.ts";
import { toEndpoint } from "../core/base-url.ts";
import {
  type ClientRequest,
  type ClientResponse,
  type ClientConnections,
  needsMore,
  post,
  type ResponseHead,
  classifyError,
  classifyRepeatedError,
} from "./http-request.ts";
import { createAttemptTimeout } from "./results.ts";

/**
 * Requests in flight on one connection. Measured on one machine: a depth of 1 has 0.6 times the rate, a depth of 64 has
 * the same rate.
 */
const pipelineDepth = 16;
/** A larger body would delay the requests after it. */
const maxPipelinedBytes = 64 * 1024;

/**
 * Opens a pool. The first request opens a connection. Large bodies and retries get a separate connection, but not those of
 * pages: a server lets few connections read.
 *
 * @param url any request's URL; all have the same origin
 * @param maxRequests in flight at a time; further requests wait
 * @param timeoutMs limit in milliseconds for opening a connection
 * @param ca as in {@link ClientRequest}
 */
export function openPool(
  url: string,
  maxRequests: number,
  timeoutMs: number,
  ca?: string,
): ClientConnections {
  const { origin, socketPath, httpUrl } = toEndpoint(url);
  const pathStart = origin.length + (socketPath === undefined ? 0 : ":".length);
  const sockets = new Set<Socket>();
  /** Functions that fail the requests without a response. */
  const pending = new Set<(error: Error) => void>();
  const closing = new AbortController();
  // Also ends a socket that is not connected yet, which undici keeps to itself.
  const { signal } = closing;
  setMaxListeners(0, signal);
  const connector = { ca, timeout: timeoutMs, socketPath: socketPath ?? null, signal };
  const connect = buildConnector(connector);
  const pool = new Pool(new URL(httpUrl).origin, {
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
        callback(null, socket);
      }),
    connections: Math.ceil(maxRequests / pipelineDepth),
    pipelining: pipelineDepth,
    // Each byte, and each response with a status of 1xx, would start these again. `dispatch` has one clock for a request.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const holdWrites = createWriteHold(sockets);
  return {
    async post(request) {
      request.signal?.throwIfAborted();
      const isAlone = request.isRetry === true && request.method !== "GET";
      if (isAlone || request.body.length > maxPipelinedBytes) return post(request);
      holdWrites();
      return dispatch(pool, pending, request.url.slice(pathStart), request);
    },
    close() {
      // undici forgets some requests when a failed connection is followed by the end of the pool.
      for (const fail of pending) fail(new errors.ClientDestroyedError());
      closing.abort();
      return pool.destroy();
    },
  };
}

/**
 * Returns a function that holds writes until the end of this turn of the event loop. Each connection then sends the
 * requests of one turn with one system call, which also saves most of the server's reads.
 */
function createWriteHold(sockets: ReadonlySet<Socket>): () => void {
  let isHolding = false;
  return () => {
    if (isHolding) return;
    isHolding = true;
    const held = [...sockets];
    for (const socket of held) socket.cork();
    setImmediate(() => {
      isHolding = false;
      for (const socket of held) socket.uncork();
    });
  };
}

/** Every operation is idempotent, although POST is not, so the next request need not wait for the response. */
const repeatable = { idempotent: true, blocking: false };

/** Sends a request on a connection that it shares with others. */
function dispatch(
  pool: Pool,
  pending: Set<(error: Error) => void>,
  path: string,
  request: ClientRequest,
): Promise<ClientResponse> {
  const { url, method = "POST", headers, body, timeoutMs } = request;
  return new Promise((resolve, reject) => {
    let starts = 0;
    let head: ResponseHead = { status: 0, headers: {} };
    let chunks: Buffer[] = [];
    let length = 0;
    let abort = (): void => {};
    /** @returns false if the request has ended before */
    const end = (): boolean => {
      clearTimeout(timer);
      release();
      return pending.delete(fail);
    };
    const finish = (): void => {
      if (end()) resolve({ ...head, body: Buffer.concat(chunks), wasRepeated: starts > 1 });
    };
    const fail = (error: Error): void => {
      if (!end()) return;
      const isAborted = request.signal?.aborted === true;
      const classify = starts > 0 ? classifyRepeatedError : classifyError;
      reject((isAborted ? request.signal.reason : classify(error, request)) as Error);
    };
    const release = onAbort(request.signal, () => {
      fail(new errors.RequestAbortedError());
      abort();
    });
    // It includes the requests before it on its connection.
    const timer = setTimeout(() => {
      fail(createAttemptTimeout(url, timeoutMs));
      abort();
    }, timeoutMs);
    pending.add(fail);
    const options = { method, path, headers, body: body || null, ...repeatable } as const;
    pool.dispatch(options, {
      onRequestStart(controller) {
        starts++;
        chunks = [];
        length = 0;
        // Closes the connection. undici sends the other requests on it again.
        abort = () => controller.abort(new errors.RequestAbortedError());
        if (!pending.has(fail)) abort();
      },
      onResponseStart: (_, status, responseHeaders) =>
        (head = { status, headers: responseHeaders }),
      onResponseData(_, chunk) {
        chunks.push(chunk);
        length += chunk.length;
        // An error that it throws ends the request.
        if (needsMore(head, length, request)) return;
        finish();
        abort();
      },
      onResponseEnd() {
        finish();
        // undici keeps these functions for up to 256 further requests: without the controller, they hold little.
        abort = () => {};
      },
      onResponseError: (_, error) => fail(error),
    });
  });
}
