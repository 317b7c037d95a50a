/** A request as the handler sees it, the checks of its head (RFC 9112, contract.md "HTTP" and "Body"), and its record for the log and the metrics. */
import { randomBytes } from "node:crypto";
import { digestToken } from "../auth/authenticator.ts";
import { toBearerToken } from "../auth/token.ts";
import { toTraceId } from "../core/contract.ts";
import { type Problem, RequestError } from "../core/errors.ts";
import type { Admission, ByteHolder } from "./admission.ts";
import type { RoutedOperation, ServerResponse } from "./response.ts";

/** Maximum length of a request target, in bytes. */
export const maxTargetBytes = 8 * 1024;
/** Maximum length of all header names and values together, in bytes. */
export const maxHeaderBytes = 16 * 1024;

/** The value of each header, by lower-case name; the values of a repeated one are joined by commas, or only the first is there. */
export type HttpHeaders = Readonly<Record<string, string | undefined>>;

/** Who waits for the response: the client of a connection, or the caller of `fetch`. */
export interface RequestClient {
  /** Why its requests are not performed any more: it has closed the connection, or the server stops. */
  readonly givenUp: RequestError | undefined;
  /** Aborted once it may have left: its input has ended, or its connection is closed. Few requests need it. */
  readonly signal: AbortSignal;
}

/** One request, independent of how it came. */
export interface ServerRequest extends ByteHolder {
  readonly method: string;
  /** Request target in origin-form or absolute-form. */
  readonly target: string;
  readonly headers: HttpHeaders;
  /** How often each repeated header was sent, by lower-case name. */
  readonly repeated: ReadonlyMap<string, number>;
  /** Set if its head is rejected. */
  readonly error: RequestError | undefined;
  /** When its head had arrived, in milliseconds of `performance.now()`. */
  readonly receivedAtMs: number;
  readonly client: RequestClient;
  /** True if a program chose the host of its URL, which a browser did not look up. */
  readonly isOfProgram?: true;
  /**
   * Reads the whole body.
   *
   * @param use gets the body: at once if it has arrived, otherwise in the call in which its last byte arrives, so that changes
   *   of one connection happen in the order in which their requests are complete. Must not throw then
   * @returns its result
   */
  readBody<Result>(maxBytes: number, use: UseBody<Result>): Result | Promise<Result>;
}

/**
 * The bytes of a body, or the error that stopped its read: `bodyTooLarge`, `overloaded`, `malformedHttp` or
 * `requestTimeout`.
 */
export type BodyResult = Uint8Array | RequestError;

/** Receives a body. @param hasWaited true if the request waited for it */
export type UseBody<Result> = (body: BodyResult, hasWaited: boolean) => Result | Promise<Result>;

/** Maximum number of entries of a {@link RecentMap}. */
const maxRecent = 1000;
const maxRecentMs = 60_000;

/** Keeps what clients send again and again. The keys contain tokens: it is emptied each minute, and when it is full. */
export class RecentMap<Value> {
  readonly #map = new Map<string, Value>();
  #timer: NodeJS.Timeout | undefined;

  get(key: string): Value | undefined {
    return this.#map.get(key);
  }

  set(key: string, value: Value): void {
    if (this.#map.size === maxRecent) this.#clear();
    this.#map.set(key, value);
    this.#timer ??= setTimeout(() => this.#clear(), maxRecentMs).unref();
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#map.clear();
  }
}

/** Returns a function that finds the digest of a request's token, or a RequestError. It hashes each header once. */
export function createCredentialReader() {
  const digests = new RecentMap<string>();
  const noToken = toBearerToken([]);
  return ({ headers, repeated }: ServerRequest): ReturnType<typeof toBearerToken> => {
    const { authorization: value } = headers;
    if (value === undefined) return noToken;
    const count = repeated.get("authorization");
    if (count !== undefined) return toBearerToken(Array<string>(count).fill(value));
    const known = digests.get(value);
    if (known !== undefined) return known;
    const token = toBearerToken([value]);
    if (token instanceof RequestError) return token;
    const digest = digestToken(token);
    digests.set(value, digest);
    return digest;
  };
}

/** A request head that is not checked; node:http's IncomingMessage is one. */
export interface RawHead {
  readonly httpVersion: string;
  readonly url?: string | undefined;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly headers: HttpHeaders;
}

/** For a head in which each header is there once. */
export const noneRepeated: ReadonlyMap<string, number> = new Map();

/** Counts repeated headers: node:http joins the values of most of them, and keeps the first of others. */
export function countRepeated({ rawHeaders, headers }: RawHead): ReadonlyMap<string, number> {
  if (Object.keys(headers).length * 2 === rawHeaders.length) return noneRepeated;
  const counts = new Map<string, number>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Map([...counts].filter(([, count]) => count > 1));
}

/** Checks a request head. @returns a RequestError `targetTooLong`, `headersTooLarge` or `malformedHttp` if it is rejected */
export function toHeadError(
  head: RawHead,
  repeated: ReadonlyMap<string, number>,
): RequestError | undefined {
  const { httpVersion, url = "", rawHeaders, headers } = head;
  if (url.length > maxTargetBytes) {
    const message = `the request target is over ${maxTargetBytes} bytes: shorten it`;
    return new RequestError("targetTooLong", message);
  }
  let headerBytes = 0;
  for (const text of rawHeaders) headerBytes += text.length;
  if (headerBytes > maxHeaderBytes) {
    const message = `the headers are over ${maxHeaderBytes} bytes: send fewer`;
    return new RequestError("headersTooLarge", message);
  }
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return malformedRequest("unsupported HTTP version: send HTTP/1.1");
  }
  const hosts = repeated.get("host");
  if (hosts !== undefined) return malformedRequest(`${hosts} Host headers: send exactly one`);
  const { host, "transfer-encoding": codings } = headers;
  return checkHost(host, httpVersion) ?? checkFraming(codings, httpVersion);
}

/** RFC 9112 section 3.2. */
function checkHost(host: string | undefined, httpVersion: string): RequestError | undefined {
  if (host === undefined) {
    if (httpVersion === "1.0") return undefined;
    return malformedRequest("the Host header is missing: HTTP/1.1 needs exactly one");
  }
  if (hostHeader.test(host)) return undefined;
  return malformedRequest("the Host header is not a host with an optional port");
}

/** RFC 9112 section 6.1: rejects a framing that a proxy in between could read differently. */
function checkFraming(codings: string | undefined, httpVersion: string): RequestError | undefined {
  if (codings === undefined) return undefined;
  if (httpVersion === "1.0") {
    return malformedRequest("Transfer-Encoding needs HTTP/1.1: send Content-Length");
  }
  if (codings.split(",").every((name) => name.trim() !== "")) return undefined;
  return malformedRequest("Transfer-Encoding is empty: leave it out");
}

const hostHeader = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Returns whether the client keeps the connection open after this request (RFC 9112 section 9.3). */
export function keepsAlive({ httpVersion, headers }: RawHead): boolean {
  const { connection } = headers;
  if (connection === undefined || connection === "keep-alive") {
    return httpVersion === "1.1" || connection !== undefined;
  }
  const options = connection.toLowerCase().split(",");
  const has = (option: string): boolean => options.some((each) => each.trim() === option);
  return !has("close") && (httpVersion === "1.1" || has("keep-alive"));
}

/** Checks the headers about the body before it is read (contract.md "Body"). The error names every broken rule. */
export function checkBodyHeaders(
  { headers, repeated }: ServerRequest,
  maxBytes: number,
): RequestError | undefined {
  const problems: Problem[] = [];
  const typeProblem = repeated.has("content-type")
    ? multipleTypes
    : findTypeProblem(headers["content-type"]);
  if (typeProblem !== undefined) problems.push(typeProblem);
  if (isCoded(headers)) problems.push(codedBody);
  if (Number(headers["content-length"] ?? 0) > maxBytes) problems.push(bodyTooLarge(maxBytes));
  const { expect } = headers;
  if (expect !== undefined && !isExpectationMet(expect)) problems.push(unknownExpectation);
  return problems.length > 0 ? RequestError.naming(problems) : undefined;
}

/** RFC 9110 section 10.1.1 defines one expectation. */
function isExpectationMet(expectations: string): boolean {
  return expectations.split(", ").every((each) => each.toLowerCase() === "100-continue");
}

const unknownExpectation: Problem = {
  kind: "expectation",
  message: 'the expectation is not supported: only "100-continue" is',
};

/**
 * The body of a request, while it arrives. Pieces are copied into one buffer that grows in steps, because a piece of one byte
 * takes 400 bytes of memory. From its read on, the whole length of the buffer is counted for its holder.
 */
export class IncomingBody {
  readonly #holder: ByteHolder;
  readonly #admission: Admission;
  readonly #announcedBytes: number;
  #maxBytes = Number.POSITIVE_INFINITY;
  #buffer: Uint8Array = noBytes;
  #length = 0;
  #isRead = false;
  #hasEnded = false;
  #error: RequestError | undefined;
  /** Ends the read that waits for the body. */
  #settle: ((result: BodyResult) => void) | undefined;

  constructor(holder: ByteHolder, headers: HttpHeaders, admission: Admission) {
    this.#holder = holder;
    this.#admission = admission;
    this.#announcedBytes = Number(headers["content-length"] ?? Number.POSITIVE_INFINITY);
  }

  /** As {@link ServerRequest.readBody}. Call it once. */
  read<Result>(maxBytes: number, use: UseBody<Result>): Result | Promise<Result> {
    this.#isRead = true;
    this.#maxBytes = maxBytes;
    const error = this.#error ?? this.#admission.hold(this.#holder, this.#buffer.length);
    if (error !== undefined) this.end(error);
    if (this.#hasEnded) return use(this.#take(error), false);
    this.#admission.startTransfer(this.#holder);
    return new Promise((resolve) => {
      this.#settle = (result) => resolve(use(result, true));
    });
  }

  /** Adds a piece, unless the body has ended. One that is over a limit ends it with an error. @returns false once it has ended */
  add(piece: Uint8Array): boolean {
    const error = this.#hasEnded ? undefined : this.#copy(piece);
    if (error !== undefined) this.end(error);
    return !this.#hasEnded;
  }

  /** The body is complete, or is given up with an error. Further calls change nothing. */
  end(error?: RequestError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#error = error;
    this.#admission.endTransfer(this.#holder);
    this.#settle?.(this.#take(error));
  }

  /** @returns an error if the body is over its limit, or does not fit in the memory of the server */
  #copy(piece: Uint8Array): RequestError | undefined {
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) return RequestError.naming([bodyTooLarge(this.#maxBytes)]);
    const size = this.#buffer.length;
    if (length > size) {
      const maxSize = Math.min(this.#announcedBytes, this.#maxBytes);
      const newSize = Math.max(length, Math.min(2 * size, maxSize));
      const error = this.#isRead && this.#admission.hold(this.#holder, newSize - size);
      if (error) return error;
      const isWhole = size === 0 && piece.length === this.#announcedBytes;
      const buffer = isWhole ? piece : Buffer.alloc(newSize);
      buffer.set(this.#buffer);
      this.#buffer = buffer;
    }
    if (this.#buffer !== piece) this.#buffer.set(piece, this.#length);
    this.#length = length;
    return undefined;
  }

  /** Returns the result of the read. Keeps nothing of the body while its plant waits for the store, or its client stays. */
  #take(error: RequestError | undefined): BodyResult {
    const body = this.#buffer.subarray(0, this.#length);
    this.#buffer = noBytes;
    return error ?? body;
  }
}

const noBytes = new Uint8Array();

/** The problem with a body over the limit. */
function bodyTooLarge(maxBytes: number): Problem {
  const message = `the body is over the limit of ${maxBytes} bytes: send a smaller body`;
  return { kind: "bodyTooLarge", message };
}

const codedBody: Problem = {
  kind: "contentCoding",
  message: "the body has a content coding: send it without one",
};
const typeAdvice = 'send the header "Content-Type: application/json"';
const multipleTypes: Problem = {
  kind: "notJsonType",
  message: `more than one Content-Type header: ${typeAdvice} once`,
};
/** One parameter of a media type (RFC 9110 section 5.6.6), with a bare or a quoted value. */
const parameter = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

function findTypeProblem(contentType: string | undefined): Problem | undefined {
  if (contentType === "application/json") return undefined;
  if (contentType === undefined) {
    return { kind: "notJsonType", message: `the content type is missing: ${typeAdvice}` };
  }
  const mediaType = contentType.split(";", 1).join().trim().toLowerCase();
  if (mediaType !== "application/json") {
    const isForm = mediaType === "application/x-www-form-urlencoded";
    const hint = isForm ? ' (curl -d needs -H "Content-Type: application/json")' : "";
    return { kind: "notJsonType", message: `the content type is not JSON: ${typeAdvice}${hint}` };
  }
  for (const [, name = "", quoted, bare = ""] of contentType.matchAll(parameter)) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? bare;
    if (name.toLowerCase() === "charset" && value.toLowerCase() !== "utf-8") {
      return { kind: "notUtf8Charset", message: "the charset is not UTF-8: leave it out" };
    }
  }
  return undefined;
}

function isCoded(headers: HttpHeaders): boolean {
  return (
    hasOtherThan(["", "identity"], headers["content-encoding"]) ||
    hasOtherThan(["", "chunked"], headers["transfer-encoding"])
  );
}

function hasOtherThan(names: readonly string[], list: string | undefined): boolean {
  return list?.split(",").some((coding) => !names.includes(coding.trim().toLowerCase())) === true;
}

/** Error for a head that is so large that its parts are not read. */
export const headTooLarge = new RequestError(
  "headersTooLarge",
  `the request target and the headers are too large: shorten them to ${maxTargetBytes} and ${maxHeaderBytes} bytes`,
);

/** Error for a request that does not arrive in time. */
export const requestTimedOut = new RequestError(
  "requestTimeout",
  "the request took too long to arrive: try again",
);

/** Error for a request whose end is missing. */
export const requestIncomplete = malformedRequest(
  "the connection ended before the request did: send it again completely",
);

function malformedRequest(message: string): RequestError {
  return new RequestError("malformedHttp", message);
}

/** A request and its response: nothing of its headers, its query and its body, except for its ids. */
export interface RequestRecord extends Pick<ServerResponse, "status" | "error" | "result"> {
  /** Absent, like the path, for bytes that are not a request. */
  readonly method?: string | undefined;
  /** As the client wrote it, without the query. */
  readonly path?: string | undefined;
  /** Absent for an unknown path. `probe` is a create that only checked a token, named after its header. */
  readonly operation?: RoutedOperation | "probe" | undefined;
  /** From the head of the request to its response. */
  readonly durationMs: number;
  /** From the head of the request to the time at which the plant was durable; absent unless the plant is stored. */
  readonly durableMs?: number | undefined;
  /** The part of {@link RequestRecord.durableMs} for which the plant waited for its commit. */
  readonly commitWaitMs?: number | undefined;
  /** Number of plants in that commit. */
  readonly batch?: number | undefined;
  /** Length of the response body; 0 for HEAD. */
  readonly bytes: number;
  readonly requestId: string;
  /** Trace of the client (W3C Trace Context). */
  readonly traceId?: string | undefined;
  /** True if the client closed the connection before the response. */
  readonly isAborted: boolean;
  /** True if the server closed the connection on purpose instead of sending all of the response. */
  readonly isDropped?: boolean | undefined;
}

/** Ids that are safe in a header, a log and a command line, and that cannot be mistaken for a token. */
const validRequestId = /^(?!.*pst_)[\w.:=+/@~-]{1,128}$/;
/** Differs between processes, so that ids of two servers differ. */
const requestIdPrefix = randomBytes(6).toString("hex");
let requestCount = 0;

/** Returns the path of a target in origin-form or absolute-form, without its query. Without a path, it is `/`. */
export function toPath(target: string): string {
  const end = target.indexOf("?");
  const beforeQuery = end < 0 ? target : target.slice(0, end);
  if (beforeQuery.startsWith("/")) return beforeQuery;
  return beforeQuery.replace(/^https?:\/\/[^/]*/i, "") || "/";
}

/** Returns the query of a target, without the question mark. */
export function toQuery(target: string): string {
  const start = target.indexOf("?");
  return start < 0 ? "" : target.slice(start + 1);
}

/** Returns the first valid X-Request-Id of the client, or a new id. */
export function toRequestId(headers: HttpHeaders | undefined): string {
  const fromClient = headers?.["x-request-id"]
    ?.split(", ")
    .find((value) => validRequestId.test(value));
  return fromClient ?? `${requestIdPrefix}-${(++requestCount).toString(36)}`;
}

/** Returns the trace id of the header traceparent. @returns undefined without exactly one valid header */
export function findTraceId({ headers, repeated }: ServerRequest): string | undefined {
  const { traceparent } = headers;
  if (traceparent === undefined || repeated.has("traceparent")) return undefined;
  return toTraceId(traceparent);
}
