/**
 * The lane: responds to simple creates that have arrived whole, and hands a connection over to node:http, for good, at the
 * first other bytes. It halves the CPU time of a create. Without this file, node:http serves everything in the same way.
 */
import { type BodyResult, type HttpHeaders, noneRepeated, RecentMap } from "../request.ts";
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

/** Returns a function that finds the head of the simple create which begins at `start`, and where its body begins. */
export function createSimpleCreateParser(path: string, maxBodyBytes: number) {
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

  return (bytes: Buffer, start: number) => {
    const headEnd = bytes.indexOf("\r\n\r\n", start);
    if (headEnd < 0 || headEnd - start > maxHeadBytes) return undefined;
    const head = readHead(bytes.toString("latin1", start, headEnd));
    return head && { head, bodyStart: headEnd + 4 };
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

/** Bytes of an incomplete request that are read while the requests before it are in flight: the next read may complete it. */
const maxCutBytes = 16 * 1024;

const noBytes = Buffer.alloc(0);

/** Passes a connection and its first bytes to node:http. */
type HandOver = (connection: Connection, bytes: Buffer) => void;

/** Reads a new connection. */
export class Lane implements Reader {
  readonly #connection: Connection;
  readonly #parse: SimpleCreateParser;
  readonly #handOver: HandOver;
  /** Bytes that have arrived after the last request. */
  #bytes: Buffer = noBytes;
  #isInputEnded = false;
  #isOver = false;

  /** @param handOver called at the first other bytes, once all responses are sent */
  constructor(connection: Connection, parse: SimpleCreateParser, handOver: HandOver) {
    this.#connection = connection;
    this.#parse = parse;
    this.#handOver = handOver;
    connection.socket.on("data", this.#onData).once("end", this.#onEnd);
    connection.use(this);
  }

  get hasBytes(): boolean {
    return this.#bytes.length > 0;
  }

  readMore(): void {
    if (this.#isOver) return;
    const connection = this.#connection;
    const { socket } = connection;
    const bytes = this.#bytes;
    let start = 0;
    while (start < bytes.length && !connection.isFull && !connection.isEnding) {
      const create = this.#parse(bytes, start);
      if (create === undefined) break;
      const { head, bodyStart } = create;
      const end = bodyStart + head.bodyLength;
      if (end > bytes.length) break;
      start = end;
      connection.accept(new LaneExchange(connection, head, bytes.subarray(bodyStart, end)));
    }
    if (start === bytes.length || connection.isEnding) this.#bytes = noBytes;
    else if (start > 0) this.#bytes = bytes.subarray(start);
    if (connection.isEnding) return;
    if (connection.isFull) socket.pause();
    else if (this.#bytes.length > 0 && connection.isSettled) this.#leave();
    else if (this.#bytes.length > maxCutBytes) socket.pause();
    else if (this.#isInputEnded && this.#bytes.length === 0) connection.end();
    else socket.resume();
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
    this.#isOver = true;
    const { socket } = this.#connection;
    socket.pause().off("data", this.#onData).off("end", this.#onEnd);
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
  readonly isComplete = true;
  readonly canContinue = true;
  heldBytes = 0;
  transferStartedAtMs = 0;
  readonly #connection: Connection;
  #body: Buffer | undefined;

  constructor(connection: Connection, { target, headers, isFinal }: SimpleHead, body: Buffer) {
    this.target = target;
    this.headers = headers;
    this.isFinal = isFinal;
    this.#connection = connection;
    this.isLate = connection.isLate(this.receivedAtMs);
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
