/** The transport of node:http: its requests, on the stream that it gets instead of a socket. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { RequestError } from "../../core/errors.ts";
import {
  type BodyCollector,
  type BodyResult,
  createBodyCollector,
  headTooLarge,
  keepsAlive,
  requestCut,
  requestTimedOut,
  toRequestHead,
} from "../request.ts";
import { type HttpMessage, MethodError, toHeaderPairs } from "../response.ts";
import {
  type ClientConnection,
  type ConnectionStream,
  endGently,
  TransportRequest,
} from "./connection.ts";

/**
 * Handles all requests that an HTTP server parses. Its connections must be {@link SocketStream}s.
 *
 * @param maxDrainBytes maximum length of a rejected body that is read so that the connection can stay open
 */
export function startNodeTransport(server: Server, maxDrainBytes: number): void {
  const onRequest = (
    message: IncomingMessage,
    response: ServerResponse,
    awaitsContinue = false,
  ): void => {
    const connection = findConnection(message.socket);
    if (connection === undefined || connection.isEnding) return;
    connection.accept(
      new NodeRequest(connection, message, response, maxDrainBytes, awaitsContinue),
    );
  };
  server.on("request", (message, response) => onRequest(message, response));
  server.on("checkExpectation", (message, response) => onRequest(message, response));
  server.on("checkContinue", (message, response) => onRequest(message, response, true));
  server.on("connect", (_message: IncomingMessage, socket: Duplex) => {
    const connection = findConnection(socket);
    if (connection === undefined || connection.isEnding) return;
    connection.reject(new MethodError("unknown method CONNECT: send POST", "POST"));
  });
  server.on("clientError", (error, socket) => {
    const connection = findConnection(socket);
    const requestError = toRequestError(error);
    if (connection === undefined || requestError === undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    // The last response is being sent.
    if (socket.writableEnded) return;
    // The rest of the request is not read yet.
    if (requestError === requestTimedOut && connection.isFull) return;
    const { newest } = connection;
    if (newest?.isComplete === false) newest.fail(requestError);
    else if (!connection.isEnding) connection.reject(requestError);
  });
}

function findConnection(socket: Duplex): ClientConnection | undefined {
  return socket instanceof SocketStream ? socket.connection : undefined;
}

/**
 * Converts an error of the connection or of node:http's parser.
 *
 * @returns undefined if the connection failed, so that no response can be sent
 */
function toRequestError(error: NodeJS.ErrnoException): RequestError | undefined {
  const { code = "" } = error;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return requestTimedOut;
  if (code === "HPE_INVALID_EOF_STATE") return requestCut;
  if (code === "HPE_HEADER_OVERFLOW") return headTooLarge;
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") {
    return new RequestError("malformedHttp", "the chunk extensions are too large: leave them out");
  }
  if (!code.startsWith("HPE_")) return undefined;
  const reason =
    code === "HPE_PAUSED_H2_UPGRADE" ? "it is HTTP/2" : error.message.replace(/^Parse Error: /, "");
  return new RequestError("malformedHttp", `the request is not well-formed HTTP/1.1 (${reason})`);
}

/** A request that node:http parsed. */
class NodeRequest extends TransportRequest {
  override readonly isFinal: boolean;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #maxDrainBytes: number;
  #awaitsContinue: boolean;
  #readBytes = 0;
  #failure: RequestError | undefined;
  #onFailure: ((error: RequestError) => void) | undefined;

  constructor(
    connection: ClientConnection,
    message: IncomingMessage,
    response: ServerResponse,
    maxDrainBytes: number,
    awaitsContinue: boolean,
  ) {
    super(connection, toRequestHead(message));
    // node:http discards the bytes after a request for another protocol; bytes after a malformed head are ambiguous.
    this.isFinal =
      this.error !== undefined || !keepsAlive(message) || this.headers["upgrade"] !== undefined;
    this.#message = message;
    this.#response = response;
    this.#maxDrainBytes = maxDrainBytes;
    this.#awaitsContinue = awaitsContinue;
  }

  readBody(maxBytes: number): BodyResult | Promise<BodyResult> {
    if (this.#failure !== undefined) return this.#failure;
    // Its close event has passed.
    if (this.#message.destroyed) return requestCut;
    if (this.#awaitsContinue) this.#response.writeContinue();
    this.#awaitsContinue = false;
    this.connection.admission.startTransfer(this);
    return new Promise((resolve) => {
      let body: BodyCollector | undefined;
      body = createBodyCollector(this, this.connection.admission, maxBytes);
      const settle = (result: BodyResult): void => {
        body = undefined;
        resolve(result);
      };
      this.#message.on("data", (chunk: Buffer) => {
        if (body === undefined) return;
        this.#readBytes += chunk.length;
        const error = body.add(chunk);
        if (error !== undefined) settle(error);
      });
      this.#message.once("end", () => {
        if (body !== undefined) settle(body.end());
      });
      this.#message.once("close", () => {
        settle(requestCut);
      });
      this.#onFailure = settle;
    });
  }

  override fail(error: RequestError): void {
    if (this.#response.headersSent) this.connection.end();
    this.#failure ??= error;
    this.#onFailure?.(error);
  }

  override get isComplete(): boolean {
    return this.#message.complete;
  }

  override get canContinue(): boolean {
    if (this.#failure !== undefined) return false;
    if (this.#message.complete) return true;
    // A chunked body has no announced length.
    const bodyBytes = Number(this.headers["content-length"]?.[0] ?? this.#readBytes);
    return bodyBytes <= this.#maxDrainBytes && !this.#awaitsContinue;
  }

  send(message: HttpMessage, onSent: () => void): void {
    this.#response.once("close", onSent);
    this.#response.writeHead(message.status, toHeaderPairs(message).flat()).end(message.body);
    if (!this.#message.complete) this.#drain();
  }

  /** Discards the rest of the body, up to the limit. */
  #drain(): void {
    this.#message.on("data", ({ length }: Buffer) => {
      this.#readBytes += length;
      if (this.#readBytes > this.#maxDrainBytes) this.connection.end();
    });
  }

  evict(error: RequestError): void {
    if (this.#response.headersSent) this.connection.close();
    else this.fail(error);
  }
}

/**
 * Bytes that node:http parses at once. It makes objects for each request in them before the server can stop it: one read of
 * 64 KiB can contain 2,000 requests.
 */
const sliceBytes = 1024;
/** The same before the client has shown a token. */
const untrustedSliceBytes = 256;
/** The same within a body. A slice ends at the end of the body. */
const bodySliceBytes = 4 * 1024;

/** Bytes of a body that node:http holds until they are read, from the high-water mark of the stream. */
const maxUnreadBytes = 16 * 1024;

/**
 * A plain or TLS socket as a stream. Node documents that an HTTP server accepts any Duplex as a connection. This one
 * withholds input from node:http after the last request, and while the connection is full. It also decides how the
 * connection ends: gently, and after the responses in flight if the client closes its side first. Node's own https server
 * fails with HPE_PAUSED when requests with bodies are pipelined over TLS; with this stream it does not.
 */
export class SocketStream extends Duplex implements ConnectionStream {
  readonly connection: ClientConnection;
  readonly #socket: Socket;
  readonly #requestTimeoutMs: number;
  /** Bytes that node:http did not get yet. */
  #input: Buffer = Buffer.alloc(0);
  #isInputEnded: boolean;
  #isInputWanted = false;
  /** The request whose body is arriving, and how much of the body is passed on, without what came with the head. */
  #arriving: TransportRequest | undefined;
  #passedBytes = 0;
  /** Time of the last input, in milliseconds of `performance.now()`. */
  lastInputAtMs = performance.now();

  /** @param requestTimeoutMs time without any input or output after which an incomplete request fails */
  constructor(connection: ClientConnection, requestTimeoutMs: number) {
    super({
      allowHalfOpen: true,
      autoDestroy: false,
      decodeStrings: false,
      readableHighWaterMark: maxUnreadBytes,
    });
    this.connection = connection;
    this.#socket = connection.socket;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#isInputEnded = this.#socket.readableEnded;
    connection.useStream(this);
    // node:http stops listening after CONNECT. The close event of the socket follows.
    this.on("error", () => undefined);
    this.#socket.on("timeout", () => {
      if (!this.emit("timeout")) this.destroy();
    });
    this.#socket.on("data", (chunk: Buffer) => this.receive(chunk));
    this.#socket.once("end", () => {
      this.#isInputEnded = true;
      this.resumeInput();
    });
    this.#socket.once("close", () => this.destroy());
  }

  /** Passes bytes to node:http, or discards them after the last request. */
  receive(chunk: Buffer): void {
    if (this.writableEnded) return;
    // node:http still uses the timeout of an idle connection until the head is complete.
    if (this.connection.isSettled) this.#socket.setTimeout(this.#requestTimeoutMs);
    this.lastInputAtMs = performance.now();
    this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
    this.resumeInput();
    if (this.#input.length > 0) this.#socket.pause();
  }

  override _read(): void {
    this.#isInputWanted = true;
    // Not at once: the stream asks for more before node:http has parsed what it has.
    queueMicrotask(() => this.resumeInput());
  }

  override resume(): this {
    super.resume();
    queueMicrotask(() => this.resumeInput());
    return this;
  }

  /** Passes the next bytes to node:http, if it wants any and the connection is not full; or the end of the input. */
  resumeInput(): void {
    if (!this.#isInputWanted || this.isPaused()) return;
    const { isEnding, isFull, newest } = this.connection;
    const isPastLastRequest = this.writableEnded || (isEnding && newest?.isComplete !== false);
    if (isPastLastRequest) this.#input = Buffer.alloc(0);
    const isOver = this.#isInputEnded && this.#input.length === 0;
    if (isFull && !isOver) return;
    if (this.#input.length === 0 && !isOver) {
      this.#socket.resume();
      return;
    }
    const slice = this.#input.subarray(0, this.#maxSliceBytes(newest));
    this.#input = this.#input.subarray(slice.length);
    this.#passedBytes += slice.length;
    this.#isInputWanted = false;
    this.push(isOver ? null : slice);
  }

  #maxSliceBytes(newest: TransportRequest | undefined): number {
    const headBytes = this.connection.isTrusted ? sliceBytes : untrustedSliceBytes;
    if (newest?.isComplete !== false) return headBytes;
    if (newest !== this.#arriving) this.#passedBytes = 0;
    this.#arriving = newest;
    const restBytes = Number(newest.headers["content-length"]?.[0] ?? 0) - this.#passedBytes;
    return Math.max(headBytes, Math.min(restBytes, bodySliceBytes));
  }

  /** Used by node:http for its timeouts. */
  setTimeout(timeoutMs: number, listener?: () => void): this {
    this.#socket.setTimeout(timeoutMs, listener);
    return this;
  }

  /** Ends the connection after what has been written. */
  destroySoon(): void {
    this.#input = Buffer.alloc(0);
    if (!this.writableEnded) super.end();
  }

  /** Called by node:http when the client has closed its side, even in the middle of a request with `Upgrade`. */
  override end(): this {
    const { newest } = this.connection;
    if (newest?.isComplete === false) newest.fail(requestCut);
    else this.connection.end();
    return this;
  }

  override _write(
    chunk: string | Buffer,
    encoding: BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    this.#socket.write(chunk, encoding, callback);
  }

  override _final(callback: () => void): void {
    endGently(this.#socket);
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy();
    callback(error);
  }
}
