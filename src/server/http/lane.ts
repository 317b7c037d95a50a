/**
 * The lane: responds to simple creates, and hands a connection over to node:http, for good, at the first other bytes. It halves
 * the CPU time of a create. Without this file, node:http serves everything in the same way.
 */
import type { HeaderPairs, RequestError } from "../../core/errors.ts";
import {
  type HttpHeaders,
  IncomingBody,
  noneRepeated,
  RecentMap,
  requestIncomplete,
  type UseBody,
} from "../request.ts";
import type { CompleteResponse } from "../response.ts";
import type { Connection, Exchange, Reader } from "./connection.ts";
import { toResponseText } from "./response-bytes.ts";

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

/** A header line that may become one of {@link headerLine}. */
const incompleteLine = /^(?:[A-Za-z-]+(?::[ -~]*)?)?\r?$/;

/** Maximum length of an incomplete create in the lane: a network divides requests at any byte. */
const maxIncompleteBytes = 16 * 1024;

/**
 * Returns a function that finds the simple create which begins at `start`. For an incomplete head that may become simple, it
 * returns the length of its complete lines, and looks only at what follows them when it is called with that length.
 */
export function createSimpleCreateParser(path: string, maxBodyBytes: number) {
  const firstLine = `POST ${path} HTTP/1.1`;
  // Heads that repeat are parsed once.
  const known = new RecentMap<SimpleHead>();

  function readHead(text: string): SimpleHead | undefined {
    const found = known.get(text);
    if (found !== undefined) return found;
    const [first, ...lines] = text.split("\r\n");
    const head = first === firstLine ? parseLines(lines, path) : undefined;
    if (head === undefined || head.bodyLength > maxBodyBytes) return undefined;
    if (!changingHeader.test(text)) known.set(text, head);
    return head;
  }

  function checkIncomplete(text: string, knownLength: number): number | undefined {
    const lines = text.split("\r\n");
    const last = lines.pop() ?? "";
    if (knownLength === 0) {
      if (lines.length === 0) return `${firstLine}\r`.startsWith(last) ? 0 : undefined;
      if (lines.shift() !== firstLine) return undefined;
    }
    const isPossible =
      incompleteLine.test(last) && lines.every((line) => toSimpleName(line) !== undefined);
    return isPossible ? knownLength + text.length - last.length : undefined;
  }

  return (bytes: Buffer, start: number, knownLength = 0): SimpleCreate | number | undefined => {
    const headEnd = bytes.indexOf("\r\n\r\n", start + Math.max(0, knownLength - 2));
    if ((headEnd < 0 ? bytes.length : headEnd) - start > maxHeadBytes) return undefined;
    if (headEnd < 0) {
      return checkIncomplete(bytes.toString("latin1", start + knownLength), knownLength);
    }
    const head = readHead(bytes.toString("latin1", start, headEnd));
    if (head === undefined) return undefined;
    const bodyStart = headEnd + 4;
    const end = bodyStart + head.bodyLength;
    return end > bytes.length && end - start > maxIncompleteBytes ? undefined : { head, bodyStart };
  };
}

/** Returns the lower-case name in a header line that is simple. */
function toSimpleName(line: string): string | undefined {
  const name = line.slice(0, line.indexOf(":")).toLowerCase();
  return headerLine.test(line) && simpleHeader.test(name) ? name : undefined;
}

function parseLines(lines: readonly string[], target: string): SimpleHead | undefined {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const name = toSimpleName(line);
    if (name === undefined || headers[name] !== undefined) return undefined;
    headers[name] = line.slice(name.length + 1).trimStart();
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
  /** Bytes that have arrived, from the next request on. */
  #bytes: Buffer = noBytes;
  /** Length of the complete lines of an incomplete head. */
  #knownLength = 0;
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
    connection.socket.once("close", () => this.#arriving?.fail(requestIncomplete));
    connection.use(this);
  }

  get bufferedBytes(): number {
    return this.#bytes.length;
  }

  readMore(): void {
    if (this.#hasLeft) return;
    const connection = this.#connection;
    const { socket } = connection;
    const bytes = this.#bytes;
    let arriving = this.#arriving;
    let start = arriving?.receive(bytes, 0) ?? 0;
    let create: SimpleCreate | number | undefined;
    while (start < bytes.length && !connection.isFull && !connection.isEnding) {
      create = this.#parse(bytes, start, start === 0 ? this.#knownLength : 0);
      if (typeof create !== "object") break;
      arriving = new LaneExchange(connection, create.head);
      start = arriving.receive(bytes, create.bodyStart);
      connection.accept(arriving);
    }
    if (arriving?.isComplete === true) arriving = undefined;
    this.#arriving = arriving;
    this.#knownLength = typeof create === "number" ? create : 0;
    // The last request of a connection may still arrive.
    const isOver = connection.isEnding && arriving === undefined;
    this.#bytes = isOver || start === bytes.length ? noBytes : bytes.subarray(start);
    if (isOver) return;
    const needsMore = this.#bytes.length === 0 || typeof create === "number";
    if (connection.isFull) socket.pause();
    else if (!this.#isInputEnded && needsMore) socket.resume();
    else if (arriving !== undefined) arriving.fail(requestIncomplete);
    else if (this.#bytes.length === 0) connection.end();
    else if (connection.isSettled) this.#leave();
    else if (this.#bytes.length <= maxIncompleteBytes) socket.resume();
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
  readonly isFinal: boolean;
  heldBytes = 0;
  isPage = false;
  readonly client: Connection;
  readonly #body: IncomingBody;
  #missingBytes: number;
  #hasFailed = false;
  #hasResponse = false;

  constructor(connection: Connection, { target, headers, isFinal, bodyLength }: SimpleHead) {
    this.target = target;
    this.headers = headers;
    this.isFinal = isFinal;
    this.client = connection;
    this.#body = new IncomingBody(this, headers, connection.admission);
    this.#missingBytes = bodyLength;
  }

  /** Receives the body, or a part of it. @returns where the next request begins */
  receive(bytes: Buffer, start: number): number {
    const piece = bytes.subarray(start, start + this.#missingBytes);
    this.#missingBytes -= piece.length;
    this.#body.add(piece);
    if (this.isComplete) this.#body.end();
    return start + piece.length;
  }

  readBody<Result>(maxBytes: number, use: UseBody<Result>): Result | Promise<Result> {
    return this.#body.read(maxBytes, use);
  }

  get isComplete(): boolean {
    return this.#missingBytes === 0;
  }

  get canContinue(): boolean {
    return !this.#hasFailed;
  }

  fail(error: RequestError): void {
    this.#hasFailed = true;
    this.#body.end(error);
    this.client.end();
  }

  evict(error: RequestError): void {
    if (this.#hasResponse) this.client.close();
    else this.fail(error);
  }

  send(response: CompleteResponse, headers: HeaderPairs, onSent: () => void): void {
    this.#hasResponse = true;
    // What still arrives is not used any more.
    this.#body.end(requestIncomplete);
    // Latin-1 is faster to write, and the same for ASCII.
    const encoding = response.bodyBytes === response.body.length ? "latin1" : "utf8";
    this.client.socket.write(toResponseText(response, headers), encoding, onSent);
  }
}
