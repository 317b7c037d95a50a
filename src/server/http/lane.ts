/**
 * The lane: responds to simple creates, and hands a connection over to node:http, for good, at the first other bytes. It halves
 * the CPU time of a create. Without this file, node:http serves everything in the same way.
 */
import type { RequestError } from "../../core/errors.ts";
import {
  type BodyResult,
  type HttpHeaders,
  noneRepeated,
  RecentMap,
  requestCut,
  type UseBody,
} from "../request.ts";
import type { CompleteResponse, HeaderPairs } from "../response.ts";
import type { Connection, Exchange, Reader } from "./connection.ts";
import { toText } from "./response-bytes.ts";

/** The head of a simple create: each header is there once, is known, and has one possible reading. */
interface SimpleHead {
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly bodyLength: number;
  /** True if the client closes the connection after this request. */
  readonly isFinal: boolean;
}

/** A simple create whose head has arrived. */
interface SimpleCreate {
  readonly head: SimpleHead;
  readonly bodyStart: number;
  readonly end: number;
}

type SimpleCreateParser = ReturnType<typeof createSimpleCreateParser>;

const maxHeadBytes = 4096;
/** A header line with one possible reading: no folding, no empty value, no control or non-ASCII character. */
const headerLine = /^[A-Za-z-]+: ?[!-~](?:[ -~]*[!-~])?$/;
/** Headers that do not change how a request is read. */
const simpleHeader =
  /^(?:host|authorization|content-type|content-length|accept|user-agent|connection|forwarded|via|cache-control|pragma|dnt|traceparent|tracestate|x-real-ip|x-(?:request|correlation|amzn-trace)-id|(?:accept|x-forwarded|sec-fetch)-[a-z-]+)$/;
const simpleHost = /^(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d+)?$/i;
const simpleConnection = /^(?:keep-alive|close)$/i;
const simpleLength = /^(?:0|[1-9]\d{0,8})$/;
/** Headers that differ between the requests of a client. */
const changingHeader = /\r\n(?:trace(?:parent|state)|x-[a-z-]+-id):/i;

/** Maximum length of an incomplete create in the lane: a network cuts requests at any byte. */
const maxCutBytes = 16 * 1024;

/** Returns a function that finds the simple create which begins at `start`; "cut" if its head is incomplete. */
export function createSimpleCreateParser(path: string, maxBodyBytes: number) {
  const firstLine = `POST ${path} HTTP/1.1\r\n`;
  // Heads that repeat are parsed once.
  const known = new RecentMap<SimpleHead>();

  function readHead(text: string): SimpleHead | undefined {
    const found = known.get(text);
    if (found !== undefined) return found;
    const head = parseHead(text, path);
    if (head === undefined || head.bodyLength > maxBodyBytes) return undefined;
    if (!changingHeader.test(text)) known.set(text, head);
    return head;
  }

  return (bytes: Buffer, start: number): SimpleCreate | "cut" | undefined => {
    const headEnd = bytes.indexOf("\r\n\r\n", start);
    if ((headEnd < 0 ? bytes.length : headEnd) - start > maxHeadBytes) return undefined;
    if (headEnd < 0) {
      const text = bytes.toString("latin1", start, start + firstLine.length);
      return firstLine.startsWith(text) ? "cut" : undefined;
    }
    const head = readHead(bytes.toString("latin1", start, headEnd));
    if (head === undefined) return undefined;
    const bodyStart = headEnd + 4;
    const end = bodyStart + head.bodyLength;
    return end > bytes.length && end - start > maxCutBytes ? undefined : { head, bodyStart, end };
  };
}

function parseHead(text: string, target: string): SimpleHead | undefined {
  const [firstLine, ...lines] = text.split("\r\n");
  if (firstLine !== `POST ${target} HTTP/1.1`) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const isSimple = headerLine.test(line) && simpleHeader.test(name);
    if (!isSimple || headers[name] !== undefined) return undefined;
    headers[name] = line.slice(colon + 1).trimStart();
  }
  const { host = " ", connection = "keep-alive", "content-length": length = "" } = headers;
  const isSimple =
    simpleHost.test(host) && simpleConnection.test(connection) && simpleLength.test(length);
  if (!isSimple) return undefined;
  const isFinal = connection.toLowerCase() === "close";
  return { target, headers, bodyLength: Number(length), isFinal };
}

const noBytes = Buffer.alloc(0);

/** Passes a connection and its first bytes to node:http. */
type HandOver = (connection: Connection, bytes: Buffer) => void;

/** Reads a new connection. */
export class Lane implements Reader {
  readonly #connection: Connection;
  readonly #parse: SimpleCreateParser;
  readonly #handOver: HandOver;
  /** Bytes that have arrived, from the body of {@link #arriving} or the next request on. */
  #bytes: Buffer = noBytes;
  /** The create whose body is incomplete. */
  #arriving: LaneExchange | undefined;
  #isInputEnded = false;
  #hasLeft = false;

  /** @param handOver called at the first other bytes, once all responses are sent */
  constructor(connection: Connection, parse: SimpleCreateParser, handOver: HandOver) {
    this.#connection = connection;
    this.#parse = parse;
    this.#handOver = handOver;
    connection.socket.on("data", this.#onData).once("end", this.#onEnd);
    connection.socket.once("close", () => this.#arriving?.fail(requestCut));
    connection.use(this);
  }

  get hasBytes(): boolean {
    return this.#bytes.length > 0;
  }

  readMore(): void {
    if (this.#hasLeft) return;
    const connection = this.#connection;
    const { socket } = connection;
    const bytes = this.#bytes;
    let start = this.#completeArriving();
    let create: SimpleCreate | "cut" | undefined;
    while (start < bytes.length && !this.#arriving && !connection.isFull && !connection.isEnding) {
      create = this.#parse(bytes, start);
      if (typeof create !== "object") break;
      const { head, bodyStart, end } = create;
      const exchange = new LaneExchange(connection, head);
      if (end <= bytes.length) exchange.complete(bytes.subarray(bodyStart, end));
      else this.#arriving = exchange;
      start = this.#arriving === undefined ? end : bodyStart;
      connection.accept(exchange);
    }
    // The last request of a connection may still arrive.
    const isOver = connection.isEnding && this.#arriving === undefined;
    const isRead = isOver || start === bytes.length;
    this.#bytes = isRead ? noBytes : bytes.subarray(start);
    const isIncomplete = this.#arriving !== undefined || create === "cut";
    this.#arriving?.count(this.#bytes.length);
    if (isOver) return;
    if (connection.isFull) socket.pause();
    else if (!this.#isInputEnded && (isRead || isIncomplete)) socket.resume();
    else if (this.#arriving !== undefined) this.#arriving.fail(requestCut);
    else if (isRead) connection.end();
    else if (connection.isSettled) this.#leave();
    else if (this.#bytes.length <= maxCutBytes) socket.resume();
    else socket.pause();
  }

  /** Completes the create whose body has arrived. @returns where the next request begins */
  #completeArriving(): number {
    const arriving = this.#arriving;
    if (arriving === undefined || this.#bytes.length < arriving.bodyLength) return 0;
    this.#arriving = undefined;
    arriving.complete(this.#bytes.subarray(0, arriving.bodyLength));
    return arriving.bodyLength;
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#connection.noteInput();
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.readMore();
  };

  readonly #onEnd = (): void => {
    this.#isInputEnded = true;
    this.readMore();
  };

  #leave(): void {
    this.#hasLeft = true;
    this.#connection.socket.pause().off("data", this.#onData).off("end", this.#onEnd);
    this.#handOver(this.#connection, this.#bytes);
  }
}

class LaneExchange implements Exchange {
  readonly method = "POST";
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly repeated = noneRepeated;
  readonly error = undefined;
  readonly receivedAtMs = performance.now();
  readonly isLate: boolean;
  readonly isFinal: boolean;
  readonly bodyLength: number;
  isComplete = false;
  heldBytes = 0;
  transferStartedAtMs = 0;
  readonly #connection: Connection;
  #body: Buffer | undefined;
  #failure: RequestError | undefined;
  /** Ends the read in progress. */
  #settle: ((result: BodyResult) => void) | undefined;

  constructor(connection: Connection, { target, headers, isFinal, bodyLength }: SimpleHead) {
    this.target = target;
    this.headers = headers;
    this.isFinal = isFinal;
    this.bodyLength = bodyLength;
    this.#connection = connection;
    this.isLate = connection.isLate(this.receivedAtMs);
  }

  /** Counts the bytes of an incomplete body that have arrived. */
  count(bytes: number): void {
    if (this.#settle === undefined) return;
    const error = this.#connection.admission.hold(this, bytes - this.heldBytes);
    if (error !== undefined) this.#endRead(error);
  }

  /** To be called once, when the whole body has arrived. */
  complete(body: Buffer): void {
    this.isComplete = true;
    this.count(body.length);
    if (this.#settle === undefined) this.#body = body;
    else this.#endRead(body);
  }

  readBody<Result>(_maxBytes: number, use: UseBody<Result>): Result | Promise<Result> {
    const { admission } = this.#connection;
    const body = this.#body;
    // Not kept while the plant waits for the store.
    this.#body = undefined;
    if (this.#failure !== undefined) return use(this.#failure, false);
    if (body !== undefined) return use(admission.hold(this, body.length) ?? body, false);
    admission.startTransfer(this);
    return new Promise((resolve) => {
      this.#settle = (result) => resolve(use(result, true));
    });
  }

  get signal(): AbortSignal {
    return this.#connection.signal;
  }

  get canContinue(): boolean {
    return this.#failure === undefined;
  }

  fail(error: RequestError): void {
    this.#failure = error;
    this.#endRead(error);
    this.#connection.end();
  }

  evict(error: RequestError): void {
    if (this.#settle === undefined) this.#connection.close();
    else this.fail(error);
  }

  #endRead(result: BodyResult): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    this.#connection.admission.endTransfer(this);
    settle(result);
  }

  send(response: CompleteResponse, headers: HeaderPairs, onSent: () => void): void {
    // Latin-1 is faster to write, and the same for ASCII.
    const encoding = response.bodyBytes === response.body.length ? "latin1" : "utf8";
    this.#connection.socket.write(toText(response, headers), encoding, onSent);
  }
}
