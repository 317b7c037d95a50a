/**
 * The lane: responds to simple creates that have arrived whole, and hands a connection over to node:http, for good, at the
 * first other bytes. From a client with a token, it waits for the rest of a create. It halves the CPU time of a create. Without
 * this file, node:http serves everything in the same way.
 */
import type { RequestError } from "../../core/errors.ts";
import type { ByteHolder } from "../admission.ts";
import { type BodyResult, type HttpHeaders, noneRepeated, RecentMap } from "../request.ts";
import type { CompleteResponse, HeaderPairs } from "../response.ts";
import type { Connection, Exchange, Reader } from "./connection.ts";
import { toText } from "./response-bytes.ts";

/** The head of a simple create: each header is there once, is known, and has one possible reading. */
interface SimpleHead {
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly repeated: typeof noneRepeated;
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

/** Maximum length of a create that is kept until its rest arrives: a network cuts pipelines at any byte. */
const maxCutBytes = 16 * 1024;
const noBytes = Buffer.alloc(0);

/** Passes a connection and its first bytes to node:http. */
type HandOver = (connection: Connection, bytes: Buffer) => void;

/** Returns a function that finds the simple create which begins at `start`; "cut" if its head may be incomplete. */
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
    const bodyStart = headEnd + 4;
    return head && { head, bodyStart, end: bodyStart + head.bodyLength };
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
  return { target, headers, repeated: noneRepeated, bodyLength: Number(length), isFinal };
}

/** Reads a new connection. */
export class Lane implements Reader, ByteHolder {
  readonly #connection: Connection;
  readonly #parse: SimpleCreateParser;
  readonly #handOver: HandOver;
  /** Bytes that have arrived after the last request. */
  #bytes: Buffer = noBytes;
  /** When the lane began to wait for the rest of a body. */
  #bodySinceMs: number | undefined;
  #isInputEnded = false;
  #isOver = false;
  /** The incomplete create that they begin, if they do. */
  #next: SimpleCreate | "cut" | undefined;
  heldBytes = 0;
  transferStartedAtMs = 0;

  /** @param handOver called at the first other bytes, once all responses are sent */
  constructor(connection: Connection, parse: SimpleCreateParser, handOver: HandOver) {
    this.#connection = connection;
    this.#parse = parse;
    this.#handOver = handOver;
    connection.socket.on("data", this.#onData).once("end", this.#onEnd);
    connection.socket.once("close", () => connection.admission.release(this));
    connection.use(this);
  }

  get hasBytes(): boolean {
    return this.#bytes.length > 0;
  }

  get isInBody(): boolean {
    return typeof this.#next === "object";
  }

  readMore(): void {
    if (this.#isOver) return;
    const connection = this.#connection;
    const { socket } = connection;
    const bytes = this.#bytes;
    let start = 0;
    this.#next = undefined;
    while (start < bytes.length && !connection.isFull && !connection.isEnding) {
      const create = this.#parse(bytes, start);
      if (typeof create !== "object" || create.end > bytes.length) {
        this.#next = create;
        break;
      }
      start = create.end;
      const body = bytes.subarray(create.bodyStart, start);
      connection.accept(new LaneExchange(connection, create.head, body, this.#bodySinceMs));
      this.#bodySinceMs = undefined;
    }
    if (start > 0 && this.heldBytes > 0) connection.admission.release(this);
    const isRead = start === bytes.length || connection.isEnding;
    this.#bytes = isRead ? noBytes : bytes.subarray(start);
    if (connection.isEnding) return;
    if (connection.isFull) socket.pause();
    else if (isRead && this.#isInputEnded) connection.end();
    else if (isRead) socket.resume();
    else if (connection.isSettled && this.#isWelcome) this.#keep();
    else if (connection.isSettled) this.#leave();
    else if (this.#bytes.length <= maxCutBytes) socket.resume();
    else socket.pause();
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

  /** True if the rest of a create is worth waiting for: the server would reject nothing of what has arrived. */
  get #isWelcome(): boolean {
    const next = this.#next;
    const { isTrusted } = this.#connection;
    if (next === undefined || this.#isInputEnded || !isTrusted) return false;
    if (next === "cut") return true;
    const isJson = next.head.headers["content-type"] === "application/json";
    return next.end <= maxCutBytes && isJson && this.#connection.accepts(next.head);
  }

  /** Waits for the rest. It is one transfer, in however many pieces it arrives. */
  #keep(): void {
    const { admission, socket } = this.#connection;
    const error = admission.hold(this, this.#bytes.length - this.heldBytes);
    if (error !== undefined) {
      this.evict(error);
      return;
    }
    if (this.isInBody) this.#bodySinceMs ??= performance.now();
    admission.startTransfer(this);
    admission.idle.delete(this.#connection);
    socket.resume();
  }

  #leave(): void {
    const { admission, socket } = this.#connection;
    this.#isOver = true;
    admission.release(this);
    socket.pause().off("data", this.#onData).off("end", this.#onEnd);
    this.#handOver(this.#connection, this.#bytes);
  }

  evict(error: RequestError): void {
    if (!this.#connection.isEnding) this.#connection.reject(error);
  }
}

class LaneExchange implements Exchange {
  readonly method = "POST";
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly repeated = noneRepeated;
  readonly error = undefined;
  readonly receivedAtMs: number;
  readonly isLate: boolean;
  readonly isFinal: boolean;
  readonly isComplete = true;
  readonly canContinue = true;
  heldBytes = 0;
  transferStartedAtMs = 0;
  readonly #connection: Connection;
  #body: Buffer | undefined;

  constructor(
    connection: Connection,
    head: SimpleHead,
    body: Buffer,
    receivedAtMs = performance.now(),
  ) {
    this.target = head.target;
    this.headers = head.headers;
    this.isFinal = head.isFinal;
    this.#connection = connection;
    this.receivedAtMs = receivedAtMs;
    this.isLate = connection.isLate(receivedAtMs);
    this.#body = body;
  }

  readBody(): BodyResult {
    const body = this.#body ?? noBytes;
    // Not kept while the plant waits for the store.
    this.#body = undefined;
    return this.#connection.admission.hold(this, body.length) ?? body;
  }

  get signal(): AbortSignal {
    return this.#connection.signal;
  }

  fail(): void {}

  evict(): void {
    this.#connection.close();
  }

  send(response: CompleteResponse, headers: HeaderPairs, onSent: () => void): void {
    // Latin-1 is faster to write, and the same for ASCII.
    const encoding = response.bodyBytes === response.body.length ? "latin1" : "utf8";
    this.#connection.socket.write(toText(response, headers), encoding, onSent);
  }
}
