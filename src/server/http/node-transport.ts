/** Handles requests through node:http: every request that is not a usual create, and all of its connection after it. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { RequestError } from "../../core/errors.ts";
import { bodyTooLarge } from "../create-plant.ts";
import {
  bodyEndedEarly,
  checkHead,
  type HttpHeaders,
  headersTooLarge,
  keepsAlive,
  maxTargetBytes,
  requestTimedOut,
  targetTooLong,
} from "../request.ts";
import { type HttpMessage, toHeaderPairs } from "../response.ts";
import { MethodError } from "../routes.ts";
import type { Connection, TransportRequest } from "./connection.ts";
import { SocketStream } from "./socket-stream.ts";

/**
 * Handles all requests that an HTTP server parses. Its connections must be {@link SocketStream}s.
 *
 * @param maxDrainBytes maximum length of the rest of a rejected body that is read so that the connection can stay open
 */
export function startNodeTransport(server: Server, maxDrainBytes: number): void {
  const onRequest = (
    message: IncomingMessage,
    response: ServerResponse,
    awaitsContinue = false,
  ): void => {
    const connection = findConnection(message.socket);
    if (connection === undefined || connection.isEnding) return;
    const options = { awaitsContinue, maxDrainBytes };
    connection.accept(new NodeRequest(connection, message, response, options));
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
    const { newest } = connection;
    if (newest instanceof NodeRequest && !newest.isComplete()) newest.fail(requestError);
    else if (!connection.isEnding) connection.reject(requestError);
  });
}

function findConnection(socket: Duplex): Connection | undefined {
  return socket instanceof SocketStream ? socket.connection : undefined;
}

interface NodeRequestOptions {
  readonly awaitsContinue: boolean;
  readonly maxDrainBytes: number;
}

class NodeRequest implements TransportRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly error: RequestError | undefined;
  readonly isLate: boolean;
  readonly isFinal: boolean;
  heldBytes = 0;
  transferStartedAtMs = 0;
  readonly #connection: Connection;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #maxDrainBytes: number;
  #awaitsContinue: boolean;
  #failure: RequestError | undefined;
  #onFailure: ((error: RequestError) => void) | undefined;

  constructor(
    connection: Connection,
    message: IncomingMessage,
    response: ServerResponse,
    options: NodeRequestOptions,
  ) {
    const headError = checkHead(message);
    this.method = message.method ?? "";
    this.target = message.url ?? "";
    this.headers = message.headersDistinct;
    this.error = headError ?? connection.checkPipeline();
    this.isLate = connection.isLate;
    // node:http discards the bytes after a request for another protocol; bytes after a malformed head are ambiguous.
    this.isFinal =
      this.error !== undefined || !keepsAlive(message) || this.headers["upgrade"] !== undefined;
    this.#connection = connection;
    this.#message = message;
    this.#response = response;
    this.#maxDrainBytes = options.maxDrainBytes;
    this.#awaitsContinue = options.awaitsContinue;
  }

  readBody(maxBytes: number): Promise<Uint8Array | RequestError> {
    if (this.#failure !== undefined) return Promise.resolve(this.#failure);
    // Its close event has passed.
    if (this.#message.destroyed) return Promise.resolve(bodyEndedEarly());
    if (this.#awaitsContinue) this.#response.writeContinue();
    this.#awaitsContinue = false;
    const { admission } = this.#connection;
    return new Promise((resolve) => {
      let chunks: Buffer[] = [];
      let length = 0;
      let isSettled = false;
      const settle = (result: Uint8Array | RequestError): void => {
        isSettled = true;
        chunks = [];
        resolve(result);
      };
      this.#message.on("data", (chunk: Buffer) => {
        if (isSettled) return;
        length += chunk.length;
        chunks.push(chunk);
        const error =
          length > maxBytes
            ? RequestError.naming([bodyTooLarge(maxBytes)])
            : admission.hold(this, chunk.length);
        if (error === undefined) admission.startTransfer(this);
        else settle(error);
      });
      this.#message.once("end", () => {
        if (isSettled) return;
        admission.endTransfer(this);
        const [only] = chunks;
        settle(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
      });
      this.#message.once("close", () => {
        settle(bodyEndedEarly());
      });
      this.#onFailure = settle;
    });
  }

  /** The rest of the request will not arrive, or cannot be read. */
  fail(error: RequestError): void {
    if (this.#response.headersSent) this.#connection.end();
    this.#failure ??= error;
    this.#onFailure?.(error);
  }

  isComplete(): boolean {
    return this.#message.complete;
  }

  canContinue(): boolean {
    if (this.#failure !== undefined) return false;
    if (this.#message.complete) return true;
    const length = Number(this.headers["content-length"]?.[0] ?? Number.POSITIVE_INFINITY);
    return length <= this.#maxDrainBytes && !this.#awaitsContinue;
  }

  send(message: HttpMessage, onSent: () => void): void {
    this.#response.once("close", onSent);
    this.#response.writeHead(message.status, toHeaderPairs(message).flat()).end(message.body);
  }

  evict(error: RequestError): void {
    if (this.#response.headersSent) this.#connection.close();
    else this.fail(error);
  }
}

/** Error of the connection or of node:http's parser. */
interface ConnectionError extends Error {
  readonly code?: string;
  /** Chunk that the parser failed to parse. */
  readonly rawPacket?: Buffer;
}

/** Returns undefined if the connection failed, so that no response can be sent. */
function toRequestError(error: ConnectionError): RequestError | undefined {
  const { code = "" } = error;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return requestTimedOut();
  if (code === "HPE_HEADER_OVERFLOW") {
    return isTargetTooLong(error.rawPacket) ? targetTooLong() : headersTooLarge();
  }
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") {
    return new RequestError("malformedHttp", "the chunk extensions are too large: leave them out");
  }
  if (!code.startsWith("HPE_")) return undefined;
  const reason =
    code === "HPE_PAUSED_H2_UPGRADE" ? "it is HTTP/2" : error.message.replace(/^Parse Error: /, "");
  return new RequestError("malformedHttp", `the request is not well-formed HTTP/1.1 (${reason})`);
}

/** Only a packet with the request line shows the target. */
function isTargetTooLong(packet: Buffer | undefined): boolean {
  const [, target = ""] = /^[A-Z-]+ (\S*)/.exec(packet?.toString("latin1") ?? "") ?? [];
  return target.length > maxTargetBytes;
}
