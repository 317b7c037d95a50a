/** HTTP requests, each with one bounded answer; the only file that knows undici. */
import { setMaxListeners } from "node:events";
import { Socket } from "node:net";
import type { buildConnector, Dispatcher } from "undici";
// Its parts: a command that loads all of undici takes half as long again to start.
import connectBuilder from "undici/lib/core/connect.js";
import errors from "undici/lib/core/errors.js";
import Client from "undici/lib/dispatcher/client.js";
import Pool from "undici/lib/dispatcher/pool.js";
import { NotAPlantStoreError, UnavailableError } from "./client-error.ts";

/** A request with a body. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For all of it, from the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Ends it early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A complete answer, as it came: not decompressed, and redirects not followed. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/** Sends a request and reads its answer, as {@link post} does. */
export type Post = (request: HttpRequest) => Promise<HttpAnswer>;

/** Connections to one origin that are kept open from one request to the next. */
export interface Connections {
  /** Sends a POST on one of them, behind others that are not answered yet. It may arrive twice. */
  readonly post: Post;
  /** Cuts all of them off; requests under way reject. */
  close(): Promise<void>;
}

/**
 * Requests under way on one connection. Measured on one machine: with 1 a client sends 0.6 times as many requests a
 * second, with 64 no more.
 */
const pipelineDepth = 16;
/** A body that takes longer than others would hold up those behind it. */
const maxPipelinedBytes = 64 * 1024;

/** Any answer may have as much. */
const minAnswerLimitBytes = 16 * 1024 * 1024;
/** An answer repeats what was sent, and JSON may escape each byte of it as six. */
const answerBytesPerBodyByte = 6;

/**
 * Sends a POST on a connection of its own and reads the answer.
 *
 * @throws UnavailableError when no complete answer came
 * @throws NotAPlantStoreError when what came is not HTTP, or has no end
 */
export async function post(request: HttpRequest): Promise<HttpAnswer> {
  const { url, body, signal } = request;
  const { origin, pathname } = new URL(url);
  const maxAnswerBytes = Math.max(minAnswerLimitBytes, answerBytesPerBodyByte * body.length);
  const closing = new AbortController();
  const client = new Client(origin, {
    connect: connectUntil(closing.signal),
    // One clock for the whole attempt instead of one for each part of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: maxAnswerBytes,
  });
  const exchange = new Exchange(request, maxAnswerBytes);
  const cancel = (): void => exchange.cancel(new Error("stopped"));
  // The signal may live on for millions of requests, and must not hold on to any of them.
  signal?.addEventListener("abort", cancel);
  try {
    signal?.throwIfAborted();
    return await exchange.send(client, pathname);
  } finally {
    signal?.removeEventListener("abort", cancel);
    await client.destroy();
    closing.abort();
  }
}

/**
 * Connections for requests that may arrive twice: one that was sent behind another which the server did not answer is
 * sent again by undici.
 *
 * @param origin with which the URL of each request begins
 * @param maxRequests under way at a time; more of them wait
 * @param timeoutMs for a connection to come about
 */
export function openConnections(
  origin: string,
  maxRequests: number,
  timeoutMs: number,
): Connections {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const sockets = new Set<Socket>();
  const pool = new Pool(origin, {
    connect: connectUntil(closing.signal, timeoutMs, (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }),
    connections: Math.ceil(maxRequests / pipelineDepth),
    pipelining: pipelineDepth,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: minAnswerLimitBytes,
  });
  const holdWrites = createWriteHold(sockets);
  return {
    post(request) {
      if (request.body.length > maxPipelinedBytes) return post(request);
      holdWrites();
      const exchange = new Exchange(request, minAnswerLimitBytes);
      return exchange.send(pool, request.url.slice(origin.length));
    },
    close() {
      closing.abort();
      return pool.destroy();
    },
  };
}

/**
 * A function that holds back what is written until the end of this turn of the event loop: the requests of one turn go
 * out on each connection in one piece, which spares both sides most of their system calls.
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

/** One request. On a shared connection undici may start it again when it was not answered. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #maxAnswerBytes: number;
  readonly #answer: Promise<HttpAnswer>;
  #resolve: (answer: HttpAnswer) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #cancelled: Error | undefined;
  #status = 0;
  #headers: HttpAnswer["headers"] = {};
  #chunks: Buffer[] = [];

  /** @param maxAnswerBytes what the dispatcher takes, for the message */
  constructor(request: HttpRequest, maxAnswerBytes: number) {
    this.#request = request;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Sends the request, and reads its answer. */
  async send(dispatcher: Dispatcher, path: string): Promise<HttpAnswer> {
    const { url, headers, body, timeoutMs, signal } = this.#request;
    const timer = setTimeout(() => {
      this.cancel(new UnavailableError("timeout", url, `waited ${timeoutMs / 1000} s`));
    }, timeoutMs);
    // Not idempotent by its method, but by the contract of who sends it; and the next one need not wait for its answer.
    const hints = { idempotent: true, blocking: false };
    try {
      dispatcher.dispatch({ method: "POST", path, headers, body, ...hints }, this);
      return await this.#answer;
    } catch (error) {
      signal?.throwIfAborted();
      throw explain(error, url, this.#maxAnswerBytes);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives it up, and with it the connection that it was sent on. */
  cancel(reason: Error): void {
    this.#cancelled = reason;
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#chunks = [];
    if (this.#cancelled !== undefined) controller.abort(this.#cancelled);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpAnswer["headers"],
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

/**
 * undici leaves a connection that is coming about to itself; this one ends with the signal.
 *
 * @param timeout in milliseconds; 0: none
 * @param onSocket is given each one, not connected yet
 */
function connectUntil(
  stop: AbortSignal,
  timeout = 0,
  onSocket: (socket: Socket) => void = () => {},
): buildConnector.connector {
  // It returns the socket, though its type does not say so.
  const connect: (...args: Parameters<buildConnector.connector>) => unknown = connectBuilder({
    timeout,
  });
  return (options, callback) => {
    const socket = connect(options, callback);
    if (!(socket instanceof Socket)) return;
    onSocket(socket);
    const destroy = (): void => void socket.destroy(new Error("stopped"));
    if (stop.aborted) destroy();
    stop.addEventListener("abort", destroy, { once: true });
    socket.once("close", () => stop.removeEventListener("abort", destroy));
  };
}

const lookUpCodes = /^(?:ENOTFOUND|EAI_)/;
const tlsCodes = /CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO$/;

/** What undici or Node threw, in our words. Errors that neither gave a code are bugs and stay as they are. */
function explain(error: unknown, url: string, maxAnswerBytes: number): unknown {
  const options = { cause: error };
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return new NotAPlantStoreError(url, `its answer is not HTTP (${error.message})`, options);
  }
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    const message = `its answer has more than ${maxAnswerBytes} bytes`;
    return new NotAPlantStoreError(url, message, options);
  }
  if (error instanceof errors.InvalidArgumentError || error instanceof UnavailableError) {
    return error;
  }
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return error;

  const { code, message } = error;
  if (code === "ECONNREFUSED") return new UnavailableError("refused", url, code, options);
  if (lookUpCodes.test(code)) return new UnavailableError("unknownHost", url, code, options);
  if (tlsCodes.test(code)) return new UnavailableError("insecure", url, message, options);
  return new UnavailableError("lost", url, message, options);
}
