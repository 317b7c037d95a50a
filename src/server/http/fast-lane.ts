/** The fast lane: recognizes the usual create in the bytes of a connection, and passes everything else to node:http. */
import type { RequestError } from "../../core/errors.ts";
import type { ByteHolder } from "../admission.ts";
import { type BodyResult, HeadChecks, type HttpHeaders, type RequestHead } from "../request.ts";
import type { HttpMessage } from "../response.ts";
import { type ClientConnection, toText, TransportRequest } from "./connection.ts";

/** Maximum time for the rest of a request to arrive. A slower one arrives through node:http. */
export const maxRestMs = 200;
/** Maximum length of a request whose rest is awaited. node:http reads longer ones without a copy of all. */
const maxAwaitedBytes = 128 * 1024;

/** Dependencies of the fast lane. */
export interface FastLaneOptions {
  readonly parse: UsualRequestParser;
  readonly idleTimeoutMs: number;
  /** Maximum time for the rest of a request to arrive; at most {@link maxRestMs}. */
  readonly restTimeoutMs: number;
  /** Maximum time without input or output for a connection that waits for the store, or for its client to read. */
  readonly stallTimeoutMs: number;
  /** Hands a connection and its first unparsed bytes over to node:http for good. */
  readonly handOver: (connection: ClientConnection, bytes: Buffer) => void;
}

/**
 * Starts a new connection in the fast lane. There it is idle, has complete requests in flight, or waits shortly for the rest
 * of one request: the timeouts in `options` are enough.
 */
export function startFastLane(connection: ClientConnection, options: FastLaneOptions): void {
  const { parse, idleTimeoutMs, restTimeoutMs, stallTimeoutMs, handOver } = options;
  const { socket } = connection;
  let stalledMs = 0;
  let partial: PartialRequest | undefined;
  let restTimer: NodeJS.Timeout | undefined;

  function onData(chunk: Buffer): void {
    stalledMs = 0;
    if (partial === undefined) {
      readRequests(chunk, 0);
      return;
    }
    if (!partial.add(chunk) || !partial.isComplete) return;
    const { request } = partial;
    const bytes = endPartial(partial);
    if (request !== undefined && !connection.isEnding) accept(request.complete(bytes));
    readRequests(bytes, request?.end ?? 0);
  }

  function readRequests(bytes: Buffer, from: number): void {
    let start = from;
    while (start < bytes.length && !connection.isEnding) {
      if (connection.isFull) {
        socket.pause();
        socket.unshift(bytes.subarray(start));
        connection.whenRoom(() => void socket.resume());
        break;
      }
      const usual = parse(bytes, start);
      if (usual === undefined || usual.end > bytes.length) {
        const request = usual && new FastLaneRequest(connection, usual, start);
        const rest = bytes.subarray(start);
        if (mayAwaitRest(request, rest)) awaitRest(request, rest);
        else leave(rest);
        return;
      }
      start = usual.end;
      accept(new FastLaneRequest(connection, usual));
    }
    stopTimer();
  }

  function accept(request: FastLaneRequest): void {
    stopTimer();
    connection.accept(request);
  }

  /** A client whose token is not accepted makes the lane hold nothing. */
  function mayAwaitRest(request: FastLaneRequest | undefined, bytes: Buffer): boolean {
    if (connection.isLate(performance.now())) return false;
    if (request === undefined) return connection.isTrusted && isCutHead(bytes);
    return request.end <= maxAwaitedBytes && connection.isWelcome(request);
  }

  function awaitRest(request: FastLaneRequest | undefined, bytes: Buffer): void {
    // One limit for all pieces of a request. node:http can have it once the requests before it have their responses.
    restTimer ??= setTimeout(() => connection.whenSettled(giveUp), restTimeoutMs);
    partial = new PartialRequest(connection, request, onFull);
    partial.add(bytes);
  }

  /** Hands an incomplete request over: node:http waits longer, and rejects it if its rest does not arrive. */
  function giveUp(): void {
    if (partial === undefined) return;
    const bytes = endPartial(partial);
    if (!connection.isEnding) leave(bytes);
  }

  function onFull(error: RequestError): void {
    if (connection.isSettled) giveUp();
    else if (partial !== undefined) {
      endPartial(partial);
      stopTimer();
      connection.reject(error);
    }
  }

  function endPartial(ended: PartialRequest): Buffer {
    partial = undefined;
    return ended.take();
  }

  function stopTimer(): void {
    clearTimeout(restTimer);
    restTimer = undefined;
  }

  function leave(bytes: Buffer): void {
    stopTimer();
    socket.pause();
    socket.off("data", onData).off("drain", onDrain).off("end", onEnd);
    connection.whenSettled(() => {
      socket.off("timeout", onTimeout);
      if (!connection.isEnding && !socket.destroyed) handOver(connection, bytes);
    });
  }

  function onDrain(): void {
    stalledMs = 0;
  }

  function onEnd(): void {
    if (partial === undefined) connection.end();
    else connection.whenSettled(giveUp);
  }

  function onTimeout(): void {
    stalledMs += idleTimeoutMs;
    if (connection.isSettled || stalledMs > stallTimeoutMs) socket.destroy();
    else socket.setTimeout(idleTimeoutMs);
  }

  function onClose(): void {
    stopTimer();
    if (partial !== undefined) endPartial(partial);
  }

  socket.on("data", onData).on("drain", onDrain).once("end", onEnd).on("timeout", onTimeout);
  socket.once("close", onClose);
  socket.setTimeout(idleTimeoutMs);
}

/** The bytes of a request whose rest still arrives. They count as bytes that wait for a client. */
class PartialRequest implements ByteHolder {
  /** Undefined while its head is incomplete. */
  readonly request: FastLaneRequest | undefined;
  heldBytes = 0;
  transferStartedAtMs = 0;
  #length = 0;
  readonly #connection: ClientConnection;
  readonly #onFull: (error: RequestError) => void;
  readonly #pieces: Buffer[] = [];

  /** @param onFull called if the bytes do not fit into memory, or if another client needs it */
  constructor(
    connection: ClientConnection,
    request: FastLaneRequest | undefined,
    onFull: (error: RequestError) => void,
  ) {
    this.request = request;
    this.#connection = connection;
    this.#onFull = onFull;
    connection.awaitRest(true);
  }

  /** True if the request has arrived; without a request, if its head has, or is too long to be usual. */
  get isComplete(): boolean {
    if (this.request !== undefined) return this.#length >= this.request.end;
    return !isCutHead(Buffer.concat(this.#pieces));
  }

  /** Adds bytes. Returns false if they do not fit into memory. */
  add(bytes: Buffer): boolean {
    const { admission } = this.#connection;
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    const error = admission.hold(this, bytes.length);
    if (error === undefined) admission.startTransfer(this);
    else this.#onFull(error);
    return error === undefined;
  }

  /** Stops waiting, and returns all bytes. */
  take(): Buffer {
    this.#connection.admission.release(this);
    this.#connection.awaitRest(false);
    return Buffer.concat(this.#pieces);
  }

  evict(error: RequestError): void {
    this.#onFull(error);
  }
}

class FastLaneRequest extends TransportRequest {
  override readonly isFinal: boolean;
  /** Position after the body. */
  readonly end: number;
  readonly #bodyStart: number;
  #body: Buffer | undefined;

  /** @param start position of the request; `end` and the bytes for `complete` begin there */
  constructor(connection: ClientConnection, usual: UsualRequest, start = 0) {
    super(connection, usual);
    this.isFinal = usual.isFinal;
    this.end = usual.end - start;
    this.#bodyStart = usual.bodyStart - start;
    this.#body = usual.body;
  }

  /** Takes the body from the bytes of the whole request. */
  complete(bytes: Buffer): this {
    this.#body = bytes.subarray(this.#bodyStart, this.end);
    return this;
  }

  readBody(): BodyResult {
    const body = this.#body ?? Buffer.alloc(0);
    // Not kept while the plant waits for the store.
    this.#body = undefined;
    return this.connection.admission.hold(this, body.length) ?? body;
  }

  evict(): void {
    this.connection.close();
  }

  send(message: HttpMessage, onSent: () => void): void {
    // Latin-1 is faster to write, and the same for ASCII.
    const encoding = message.bodyBytes === message.body.length ? "latin1" : "utf8";
    this.connection.socket.write(toText(message), encoding, onSent);
  }
}

/** The head of a usual request. */
interface UsualHead extends RequestHead {
  /** True if the client closes the connection after this request. */
  readonly isFinal: boolean;
  readonly bodyLength: number;
}

/** A create request with usual headers only. */
interface UsualRequest extends Omit<UsualHead, "bodyLength"> {
  readonly bodyStart: number;
  /** The body, as far as it has arrived. */
  readonly body: Buffer;
  /** Position after the body: after the end of the bytes if a part of it is missing. */
  readonly end: number;
}

/**
 * Parses the request that begins at `start`.
 *
 * @returns undefined if the bytes do not begin with the complete head of a usual request
 */
export type UsualRequestParser = (bytes: Buffer, start: number) => UsualRequest | undefined;

/** Longer heads are unusual. */
const maxHeadBytes = 4096;

/** A header line with one possible reading: no folding, no empty value, no control or non-ASCII character. */
const headerLine = /^[A-Za-z-]+: ?[!-~](?:[ -~]*[!-~])?$/;
/** Headers that do not change how a request is read. */
const usualHeader =
  /^(?:host|authorization|content-type|content-length|accept|user-agent|connection|forwarded|via|cache-control|pragma|dnt|traceparent|tracestate|x-real-ip|x-(?:request|correlation|amzn-trace)-id|(?:accept|x-forwarded|sec-fetch)-[a-z-]+)$/;
const usualHost = /^(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d+)?$/i;
const usualConnection = /^(?:keep-alive|close)$/i;
const contentLength = /^(?:0|[1-9]\d{0,8})$/;
/** Headers that differ between the requests of a client. */
const changingHeader = /^(?:trace(?:parent|state)|x-[a-z-]+-id)$/;

/** Maximum number of known heads. */
const maxKnown = 1000;
/** Maximum length of all known heads together, in characters. */
const maxKnownLength = 2 ** 20;
/** Time after which all known heads are forgotten, because they contain tokens. */
const maxKnownMs = 60_000;

/** Returns whether bytes may be the beginning of a usual head. */
function isCutHead(bytes: Buffer): boolean {
  return bytes.length <= maxHeadBytes && !bytes.includes("\r\n\r\n");
}

/**
 * Creates the parser. It accepts only bytes with one possible reading; node:http parses the others. Heads that repeat are
 * parsed once.
 *
 * @param createPath path of the create operation
 * @param maxBodyBytes maximum length of a body
 */
export function createUsualRequestParser(
  createPath: string,
  maxBodyBytes: number,
): UsualRequestParser {
  const requestLine = `POST ${createPath} HTTP/1.1`;
  const known = new KnownHeads();

  function parseHead(text: string): UsualHead | undefined {
    const [firstLine, ...lines] = text.split("\r\n");
    const headers = firstLine === requestLine ? parseHeaders(lines) : undefined;
    const bodyLength = headers && toBodyLength(headers);
    if (headers === undefined || bodyLength === undefined) return undefined;
    const isChanging = Object.keys(headers).some((name) => changingHeader.test(name));
    const remember = isChanging ? undefined : () => known.add(text, head);
    const checks = new HeadChecks(headers, remember);
    const isFinal = headers["connection"]?.[0]?.toLowerCase() === "close";
    const head = { method: "POST", target: createPath, headers, checks, isFinal, bodyLength };
    return head;
  }

  return (bytes, start) => {
    const headEnd = bytes.indexOf("\r\n\r\n", start);
    if (headEnd < 0 || headEnd - start > maxHeadBytes) return undefined;
    const text = bytes.toString("latin1", start, headEnd);
    const head = known.find(text) ?? parseHead(text);
    if (head === undefined || head.bodyLength > maxBodyBytes) return undefined;
    const bodyStart = headEnd + 4;
    const end = bodyStart + head.bodyLength;
    const { method, target, headers, checks, isFinal } = head;
    const body = bytes.subarray(bodyStart, end);
    return { method, target, headers, checks, isFinal, bodyStart, body, end };
  };
}

/** Heads whose credential was accepted, by their text. They do not say whether it still is. */
class KnownHeads {
  readonly #heads = new Map<string, UsualHead>();
  #length = 0;
  #timer: NodeJS.Timeout | undefined;

  find(text: string): UsualHead | undefined {
    return this.#heads.get(text);
  }

  add(text: string, head: UsualHead): void {
    if (this.#heads.size === maxKnown || this.#length + text.length > maxKnownLength) this.#clear();
    this.#heads.set(text, head);
    this.#length += text.length;
    this.#timer ??= setTimeout(() => this.#clear(), maxKnownMs).unref();
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#heads.clear();
    this.#length = 0;
  }
}

function parseHeaders(lines: readonly string[]): HttpHeaders | undefined {
  const headers: Record<string, readonly string[]> = {};
  for (const line of lines) {
    if (!headerLine.test(line)) return undefined;
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    if (!usualHeader.test(name) || headers[name] !== undefined) return undefined;
    headers[name] = [line.slice(colon + 1).trimStart()];
  }
  return headers;
}

/** Length of the body; undefined if a header has an unusual value. */
function toBodyLength(headers: HttpHeaders): number | undefined {
  const [host = " "] = headers["host"] ?? [];
  const [connection = "keep-alive"] = headers["connection"] ?? [];
  const [length = ""] = headers["content-length"] ?? [];
  const isUsual =
    usualHost.test(host) && usualConnection.test(connection) && contentLength.test(length);
  return isUsual ? Number(length) : undefined;
}
