/** Requests that node:http parses: everything that the lane leaves. Complete by itself: the lane can be switched off. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type HeaderPairs, RequestError } from "../../core/errors.ts";
import {
  countRepeated,
  headTooLarge,
  type HttpHeaders,
  IncomingBody,
  keepsAlive,
  maxHeaderBytes,
  maxTargetBytes,
  type RawHead,
  requestIncomplete,
  toHeadError,
  type UseBody,
} from "../request.ts";
import type { CompleteResponse } from "../response.ts";
import type { Connection, Exchange } from "./connection.ts";
import { createServer } from "./node-http.ts";
import { Slicer } from "./slicer.ts";

/** Maximum bytes of a head or of chunks that node:http parses at once. A slice ends at the end of a head, and at that of a body. */
const sliceBytes = 4 * 1024;

/**
 * Creates a server of node:http that does not listen.
 *
 * @param maxDrainBytes maximum length of a rejected body that is read so that the connection can stay open
 * @returns a function that passes a connection and its first bytes to the server
 */
export function createNodeHttp(maxDrainBytes: number): (each: Connection, input: Buffer) => void {
  const connections = new WeakMap<Duplex, Connection>();
  // The connection has the time limits: node:http starts its own only in a server that listens.
  const server = createServer({
    // Far above the limits of this server, so that mostly toHeadError says which one was exceeded.
    maxHeaderSize: 4 * (maxTargetBytes + maxHeaderBytes),
    // node:http would respond without a body.
    requireHostHeader: false,
    keepAliveTimeout: 0,
  });
  // The size of the headers is limited; a limit on their number would drop the others silently.
  server.maxHeadersCount = 0;
  listenTo(server, connections, maxDrainBytes);
  // node:http hides the errors in the body of such a request, so it gets the request again without Upgrade. None of its body
  // was in the slice.
  server.on("upgrade", (message: IncomingMessage) => {
    const slicer = message.socket as Duplex as Slicer;
    const connection = connections.get(slicer);
    const input = Buffer.concat([toHead(message), slicer.stopReading()]);
    if (connection === undefined || connection.isEnding) return;
    // node:http may still hold back the responses before it.
    const readMore = (): void => {
      if (connection.isSettled) pass(connection, input);
    };
    connection.use({ bufferedBytes: input.length, readMore }, slicer);
    readMore();
  });

  function pass(connection: Connection, first: Buffer): void {
    const heads = new HeadScanner();
    let bodyFrom = 0;
    let arriving: Exchange | undefined;
    const countSliceBytes = (input: Buffer): number => {
      const { isEnding, isFull, newest } = connection;
      const isInHead = newest?.isComplete !== false;
      if (isFull || (isInHead && isEnding)) return 0;
      if (newest !== arriving) bodyFrom = slicer.passedBytes;
      arriving = newest;
      const bodyBytes = isInHead ? undefined : newest.headers["content-length"];
      // node:http makes objects for chunks only: a body without them is parsed at once, whatever its length.
      if (bodyBytes !== undefined) return Number(bodyBytes) - (slicer.passedBytes - bodyFrom);
      if (!connection.mayPassSlice()) return 0;
      const bytes = heads.count(input, isInHead);
      if (bytes === undefined) connection.reject(twoSpaces);
      return bytes ?? 0;
    };
    connection.socket.on("data", () => connection.noteInput());
    const slicer = new Slicer(connection.socket, first, countSliceBytes);
    connections.set(slicer, connection);
    connection.use(slicer, slicer);
    server.emit("connection", slicer);
    // The request that arrives will not be complete. Otherwise the responses in flight are sent first.
    slicer.once("end", () => {
      const { newest } = connection;
      if (newest?.isComplete === false) newest.fail(requestIncomplete);
      else connection.end();
    });
  }

  return pass;
}

/** Finds the ends of heads, and of chunked bodies, which end in the same way. */
class HeadScanner {
  /** The last characters, if they belong to a part of a head. */
  #tail = "";
  #isInFirstLine = true;

  /**
   * Returns how many bytes of the input may be parsed at once; undefined for a request line with two spaces in a row, which
   * node:http takes for one.
   */
  count(input: Buffer, isInHead: boolean): number | undefined {
    const text = this.#tail + input.toString("latin1", 0, sliceBytes);
    if (isInHead && this.#isInFirstLine && /^[\r\n]*.* {2}/.test(text)) return undefined;
    const end = /[^\r\n]\r?\n\r?\n/.exec(text);
    const length = end === null ? text.length : end.index + end[0].length;
    const count = length - this.#tail.length;
    if (end !== null) this.#isInFirstLine = true;
    else if (/[^\r\n]\r?\n/.test(text)) this.#isInFirstLine = false;
    this.#tail = end === null ? text.slice(-4) : "";
    return count;
  }
}

/** Headers that ask for another protocol. */
const upgradeHeader = /^(?:connection|upgrade)$/i;

/** Returns the head of a request without Upgrade, as that of the last request of its connection. */
function toHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\nConnection: close\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (!upgradeHeader.test(name)) head += `${name}: ${rawHeaders[index + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, "latin1");
}

const twoSpaces = new RequestError(
  "malformedHttp",
  "the request is not well-formed HTTP/1.1 (its first line has two spaces in a row)",
);

function listenTo(
  server: Server,
  connections: WeakMap<Duplex, Connection>,
  maxDrainBytes: number,
): void {
  const onRequest = (
    message: IncomingMessage,
    response: ServerResponse,
    awaitsContinue = false,
  ): void => {
    const connection = connections.get(message.socket);
    if (connection === undefined || connection.isEnding) return;
    connection.accept(
      new NodeExchange(connection, message, response, maxDrainBytes, awaitsContinue),
    );
  };
  server.on("request", (message, response) => onRequest(message, response));
  server.on("checkExpectation", (message, response) => onRequest(message, response));
  server.on("checkContinue", (message, response) => onRequest(message, response, true));
  server.on("connect", (_message: IncomingMessage, stream: Duplex) => {
    const connection = connections.get(stream);
    if (connection === undefined || connection.isEnding) return;
    const headers = [["Allow", "POST"]] as const;
    const message = "unknown method CONNECT: send POST";
    connection.reject(new RequestError("noSuchMethod", message, { headers }));
  });
  server.on("clientError", (error, stream) => {
    const connection = connections.get(stream);
    const requestError = toRequestError(error);
    if (connection === undefined || requestError === undefined || stream.destroyed) {
      stream.destroy();
      return;
    }
    // The last response is being sent.
    if (stream.writableEnded) return;
    const { newest } = connection;
    if (newest?.isComplete === false) newest.fail(requestError);
    else if (!connection.isEnding) connection.reject(requestError);
  });
}

/**
 * Converts an error of the connection or of node:http's parser.
 *
 * @returns undefined if the connection failed, so that no response can be sent
 */
function toRequestError(error: NodeJS.ErrnoException): RequestError | undefined {
  const { code = "" } = error;
  if (code === "HPE_INVALID_EOF_STATE") return requestIncomplete;
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
class NodeExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly repeated: ReadonlyMap<string, number>;
  readonly error: RequestError | undefined;
  readonly receivedAtMs = performance.now();
  readonly isFinal: boolean;
  heldBytes = 0;
  isPage = false;
  readonly client: Connection;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #body: IncomingBody;
  readonly #maxDrainBytes: number;
  #awaitsContinue: boolean;
  #readBytes = 0;
  #hasFailed = false;

  constructor(
    connection: Connection,
    message: IncomingMessage,
    response: ServerResponse,
    maxDrainBytes: number,
    awaitsContinue: boolean,
  ) {
    const { httpVersion, method = "", url = "", rawHeaders } = message;
    const headers = message.headers as HttpHeaders;
    const head: RawHead = { httpVersion, url, rawHeaders, headers };
    this.method = method;
    this.target = url;
    this.headers = headers;
    this.repeated = countRepeated(head);
    this.error = toHeadError(head, this.repeated);
    // node:http discards the bytes after a request for another protocol; bytes after a malformed head are ambiguous.
    this.isFinal =
      this.error !== undefined || !keepsAlive(head) || headers["upgrade"] !== undefined;
    this.client = connection;
    this.#message = message;
    this.#response = response;
    this.#body = new IncomingBody(this, headers, connection.admission);
    this.#maxDrainBytes = maxDrainBytes;
    this.#awaitsContinue = awaitsContinue;
  }

  readBody<Result>(maxBytes: number, use: UseBody<Result>): Result | Promise<Result> {
    const message = this.#message;
    // Its close event has passed.
    if (message.destroyed) this.#body.end(requestIncomplete);
    else if (this.#awaitsContinue && !this.#hasFailed) this.#response.writeContinue();
    this.#awaitsContinue = false;
    const result = this.#body.read(maxBytes, use);
    message.on("data", (piece: Buffer) => {
      this.#readBytes += piece.length;
      this.#body.add(piece);
    });
    message.once("end", () => this.#body.end());
    message.once("close", () => this.#body.end(requestIncomplete));
    // What is there is taken in this call: the body of the next request could end in fewer ticks, and overtake it.
    if (message.complete) {
      while (message.read() !== null);
      this.#body.end();
    }
    return result;
  }

  fail(error: RequestError): void {
    if (this.#response.headersSent) this.client.end();
    this.#hasFailed = true;
    this.#body.end(error);
  }

  get isComplete(): boolean {
    return this.#message.complete;
  }

  get canContinue(): boolean {
    if (this.#hasFailed) return false;
    if (this.#message.complete) return true;
    // A chunked body has no announced length.
    const bodyBytes = Number(this.headers["content-length"] ?? this.#readBytes);
    return bodyBytes <= this.#maxDrainBytes && !this.#awaitsContinue;
  }

  send(response: CompleteResponse, headers: HeaderPairs, onSent: () => void): void {
    // What still arrives is not used any more.
    this.#body.end(requestIncomplete);
    this.#response.once("close", onSent);
    const { status, body } = response;
    this.#response.writeHead(status, response.headers.concat(headers).flat()).end(body);
    if (!this.#message.complete) this.#drain();
  }

  /** Discards the rest of the body, up to the limit. */
  #drain(): void {
    this.#message.removeAllListeners("data").on("data", ({ length }: Buffer) => {
      this.#readBytes += length;
      if (this.#readBytes > this.#maxDrainBytes) this.client.end();
    });
  }

  evict(error: RequestError): void {
    if (this.#response.headersSent) this.client.close();
    else this.fail(error);
  }
}
