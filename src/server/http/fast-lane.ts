/** The fast lane: recognizes the usual create in the bytes of a connection, and passes everything else to node:http. */
import { type BodyResult, HeadChecks, type HttpHeaders, type RequestHead } from "../request.ts";
import type { HttpMessage } from "../response.ts";
import { type ClientConnection, toText, TransportRequest } from "./connection.ts";

/** Dependencies of the fast lane. */
export interface FastLaneOptions {
  readonly parse: UsualRequestParser;
  readonly idleTimeoutMs: number;
  /** Maximum time without input or output for a connection that waits for the store, or for its client to read. */
  readonly stallTimeoutMs: number;
  /** Hands a connection and its first unparsed bytes over to node:http for good. */
  readonly handOver: (connection: ClientConnection, bytes: Buffer) => void;
}

/**
 * Starts a new connection in the fast lane. There it is idle or has complete requests in flight, so that it needs no
 * other timeouts than these.
 */
export function startFastLane(connection: ClientConnection, options: FastLaneOptions): void {
  const { parse, idleTimeoutMs, stallTimeoutMs, handOver } = options;
  const { socket } = connection;
  let stalledMs = 0;

  function onData(chunk: Buffer): void {
    let start = 0;
    stalledMs = 0;
    while (start < chunk.length && !connection.isEnding) {
      if (connection.isFull) {
        socket.pause();
        socket.unshift(chunk.subarray(start));
        connection.whenRoom(() => void socket.resume());
        return;
      }
      const usual = parse(chunk, start);
      if (usual === undefined) {
        leave(chunk.subarray(start));
        return;
      }
      start = usual.end;
      connection.accept(new FastLaneRequest(connection, usual));
    }
  }

  function leave(bytes: Buffer): void {
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
    connection.end();
  }

  function onTimeout(): void {
    stalledMs += idleTimeoutMs;
    if (connection.isSettled || stalledMs > stallTimeoutMs) socket.destroy();
    else socket.setTimeout(idleTimeoutMs);
  }

  socket.on("data", onData).on("drain", onDrain).once("end", onEnd).on("timeout", onTimeout);
  socket.setTimeout(idleTimeoutMs);
}

class FastLaneRequest extends TransportRequest {
  #body: Buffer | undefined;

  constructor(connection: ClientConnection, usual: UsualRequest) {
    super(connection, usual);
    this.#body = usual.body;
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
  readonly bodyLength: number;
}

/** A complete create request with usual headers only. */
interface UsualRequest extends RequestHead {
  readonly body: Buffer;
  /** Position after the body. */
  readonly end: number;
}

/**
 * Parses the request that begins at `start`.
 *
 * @returns undefined if the bytes are anything else than one complete usual request, followed by any bytes
 */
export type UsualRequestParser = (bytes: Buffer, start: number) => UsualRequest | undefined;

/** Longer heads are unusual. */
const maxHeadBytes = 4096;

/** A header line with one possible reading: no folding, no empty value, no control or non-ASCII character. */
const headerLine = /^[A-Za-z-]+: ?[!-~](?:[ -~]*[!-~])?$/;
/** Headers that do not change how a request is read. */
const usualHeader =
  /^(?:host|authorization|content-type|content-length|accept|user-agent|connection|x-request-id|traceparent|tracestate|(?:accept|x-forwarded|sec-fetch)-[a-z-]+)$/;
const usualHost = /^(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d+)?$/i;
const contentLength = /^(?:0|[1-9]\d{0,8})$/;
/** Headers that differ between the requests of a client. */
const changingHeaders = ["x-request-id", "traceparent", "tracestate"];

/** Maximum number of known heads. */
const maxKnown = 1000;
/** Maximum length of all known heads together, in characters. */
const maxKnownLength = 2 ** 20;
/** Time after which all known heads are forgotten, because they contain tokens. */
const maxKnownMs = 60_000;

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
    const isChanging = changingHeaders.some((name) => headers[name] !== undefined);
    const remember = isChanging ? undefined : () => known.add(text, head);
    const checks = new HeadChecks(headers, remember);
    const head = { method: "POST", target: createPath, headers, checks, bodyLength };
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
    if (end > bytes.length) return undefined;
    const { method, target, headers, checks } = head;
    return { method, target, headers, checks, body: bytes.subarray(bodyStart, end), end };
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
    usualHost.test(host) && connection.toLowerCase() === "keep-alive" && contentLength.test(length);
  return isUsual ? Number(length) : undefined;
}
