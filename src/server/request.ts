/** A request as the handler sees it, the checks of its head (RFC 9112, contract.md "HTTP" and "Body"), and its record for the log and the metrics. */
import { randomBytes } from "node:crypto";
import { digestToken } from "../auth/authenticator.ts";
import { toBearerToken } from "../auth/token.ts";
import { type OperationId, toTraceId } from "../core/contract.ts";
import { type Problem, RequestError } from "../core/errors.ts";
import type { SuccessfulResult } from "../core/store.ts";
import type { Admission, ByteHolder } from "./admission.ts";

/** Maximum length of a request target, in bytes. */
export const maxTargetBytes = 8 * 1024;
/** Maximum length of all header names and values together, in bytes. */
export const maxHeaderBytes = 16 * 1024;

/** All values of each header, by lower-case name. */
export type HttpHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** The head of a request. */
export interface RequestHead {
  readonly method: string;
  /** Request target in origin-form or absolute-form. */
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly checks: HeadChecks;
  /** Set if the transport rejects the request. */
  readonly error?: RequestError | undefined;
}

/** One request, independent of the transport that received it. */
export abstract class ServerRequest implements RequestHead, ByteHolder {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly checks: HeadChecks;
  readonly error: RequestError | undefined;
  /** When its head had arrived, in milliseconds of `performance.now()`. */
  readonly receivedAtMs = performance.now();
  /** True if the request arrived after the server began to stop. */
  abstract readonly isLate: boolean;
  /** Set by the handler once the request is routed. */
  operation: OperationId | "options" | undefined = undefined;
  heldBytes = 0;
  transferStartedAtMs = 0;

  constructor({ method, target, headers, checks, error }: RequestHead) {
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.checks = checks;
    this.error = error;
  }

  /**
   * Reads the whole body.
   *
   * @returns the bytes, or a RequestError `bodyTooLarge`, `overloaded`, `malformedHttp` or `requestTimeout`; a promise
   *   only if the body has not arrived yet
   */
  abstract readBody(maxBytes: number): BodyResult | Promise<BodyResult>;

  abstract evict(error: RequestError): void;

  /** Receives whether the server accepts the credential. A transport may then read more of the client at once. */
  trustClient(_isTrusted: boolean): void {}
}

/** The bytes of a body, or the error that stopped its read. */
export type BodyResult = Uint8Array | RequestError;

/** Results of the checks of a head. Each check runs once, also for many requests with the same head. */
export class HeadChecks {
  readonly #headers: HttpHeaders;
  #credential: ReturnType<typeof toBearerToken> | undefined;
  #body: { readonly error: RequestError | undefined } | undefined;
  #onAccepted: (() => void) | undefined;

  /** @param onAccepted is called once, when the server accepts the credential for the first time */
  constructor(headers: HttpHeaders, onAccepted?: () => void) {
    this.#headers = headers;
    this.#onAccepted = onAccepted;
  }

  /** Digest of the token, or a CredentialError `noCredential` or `malformedCredential`. */
  get tokenDigest(): ReturnType<typeof toBearerToken> {
    if (this.#credential === undefined) {
      const token = toBearerToken(this.#headers["authorization"] ?? []);
      this.#credential = token instanceof RequestError ? token : digestToken(token);
    }
    return this.#credential;
  }

  /** Call it when the server accepts the credential. */
  acceptCredential(): void {
    this.#onAccepted?.();
    this.#onAccepted = undefined;
  }

  /** Checks the headers about the body before it is read (contract.md "Body"). The error names every broken rule. */
  checkBody(maxBytes: number): RequestError | undefined {
    this.#body ??= { error: checkBodyHeaders(this.#headers, maxBytes) };
    return this.#body.error;
  }
}

/** A request head that is not checked; node:http's IncomingMessage is one. */
export interface RawHead {
  readonly method?: string | undefined;
  readonly httpVersion: string;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly headersDistinct: HttpHeaders;
}

/** Checks a request head. The error is `targetTooLong`, `headersTooLarge` or `malformedHttp`. */
export function toRequestHead(raw: RawHead): RequestHead {
  const { method = "", url: target = "", headersDistinct: headers } = raw;
  return { method, target, headers, checks: new HeadChecks(headers), error: checkHead(raw) };
}

function checkHead(head: RawHead): RequestError | undefined {
  const { httpVersion, url = "", rawHeaders, headersDistinct: headers } = head;
  if (url.length > maxTargetBytes) {
    const message = `the request target is over ${maxTargetBytes} bytes: shorten it`;
    return new RequestError("targetTooLong", message);
  }
  const headerBytes = rawHeaders.reduce((sum, text) => sum + text.length, 0);
  if (headerBytes > maxHeaderBytes) {
    const message = `the headers are over ${maxHeaderBytes} bytes: send fewer`;
    return new RequestError("headersTooLarge", message);
  }
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return malformed("unsupported HTTP version: send HTTP/1.1");
  }
  const { host, "transfer-encoding": codings } = headers;
  return checkHost(host ?? [], httpVersion) ?? checkFraming(codings ?? [], httpVersion);
}

/** RFC 9112 section 3.2. */
function checkHost(hosts: readonly string[], httpVersion: string): RequestError | undefined {
  const [value, ...others] = hosts;
  if (value === undefined) {
    if (httpVersion === "1.0") return undefined;
    return malformed("the Host header is missing: HTTP/1.1 needs exactly one");
  }
  if (others.length > 0) return malformed(`${hosts.length} Host headers: send exactly one`);
  if (hostHeader.test(value)) return undefined;
  return malformed("the Host header is not a host with an optional port");
}

/** RFC 9112 section 6.1: rejects a framing that a proxy in between could read differently. */
function checkFraming(codings: readonly string[], httpVersion: string): RequestError | undefined {
  if (codings.length === 0) return undefined;
  if (httpVersion === "1.0") {
    return malformed("Transfer-Encoding needs HTTP/1.1: send Content-Length");
  }
  const names = codings.join(",").split(",");
  if (names.every((name) => name.trim() !== "")) return undefined;
  return malformed("Transfer-Encoding is empty: leave it out");
}

const hostHeader = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Returns whether the client keeps the connection open after this request (RFC 9112 section 9.3). */
export function keepsAlive({ httpVersion, headersDistinct }: RawHead): boolean {
  const options = (headersDistinct["connection"] ?? []).join(",").toLowerCase().split(",");
  const has = (option: string): boolean => options.some((each) => each.trim() === option);
  return !has("close") && (httpVersion === "1.1" || has("keep-alive"));
}

function checkBodyHeaders(headers: HttpHeaders, maxBytes: number): RequestError | undefined {
  const problems: Problem[] = [];
  const types = headers["content-type"];
  const typeProblem =
    types !== undefined && types.length > 1 ? multipleTypes : findTypeProblem(types?.[0]);
  if (typeProblem !== undefined) problems.push(typeProblem);
  if (isCoded(headers)) problems.push(codedBody);
  if (Number(headers["content-length"]?.[0] ?? 0) > maxBytes) problems.push(bodyTooLarge(maxBytes));
  if (!isExpectationMet(headers["expect"] ?? [])) problems.push(unknownExpectation);
  return problems.length > 0 ? RequestError.naming(problems) : undefined;
}

/** RFC 9110 section 10.1.1 defines one expectation. */
function isExpectationMet(expectations: readonly string[]): boolean {
  return expectations.every((each) => each.toLowerCase() === "100-continue");
}

const unknownExpectation: Problem = {
  kind: "expectation",
  message: 'the expectation is not supported: only "100-continue" is',
};

/** A body that arrives in pieces. */
export type BodyCollector = ReturnType<typeof createBodyCollector>;

/** Creates a collector of a body. It counts the bytes for their holder. */
export function createBodyCollector(holder: ByteHolder, admission: Admission, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  return {
    /** Returns an error if the body is over its limit, or does not fit in the memory of the server. */
    add(chunk: Uint8Array): RequestError | undefined {
      if (holder.heldBytes + chunk.length > maxBytes) {
        return RequestError.naming([bodyTooLarge(maxBytes)]);
      }
      chunks.push(chunk);
      const error = admission.hold(holder, chunk.length);
      if (error === undefined) admission.startTransfer(holder);
      return error;
    },
    /** Returns the complete body. */
    end(): Uint8Array {
      admission.endTransfer(holder);
      const [first] = chunks;
      return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
    },
  };
}

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

function hasOtherThan(names: readonly string[], lists: readonly string[] | undefined): boolean {
  if (lists === undefined) return false;
  const codings = lists.flatMap((list) => list.split(","));
  return codings.some((coding) => !names.includes(coding.trim().toLowerCase()));
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
export const requestCut = malformed(
  "the connection ended before the request did: send it again completely",
);

function malformed(message: string): RequestError {
  return new RequestError("malformedHttp", message);
}

/** A request and its response: nothing of its headers, its query and its body, except for its ids. */
export interface RequestRecord {
  /** Absent, like the path, for bytes that are not a request. */
  readonly method?: string | undefined;
  /** As the client wrote it, without the query. */
  readonly path?: string | undefined;
  /** Absent for an unknown path. `probe` is a create that only checked a token, named after its header. */
  readonly operation?: ServerRequest["operation"] | "probe";
  readonly status: number;
  /** Number of the Error. */
  readonly error?: number | undefined;
  /** Result of a create. */
  readonly result?: SuccessfulResult | undefined;
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
  /** True if the server closed the connection on purpose instead of sending the response. */
  readonly isDropped?: boolean | undefined;
}

/** Ids that are safe in a header, a log and a command line, and that cannot be mistaken for a token. */
const validRequestId = /^(?!.*pst_)[\w.:=+/@~-]{1,128}$/;
/** Differs between processes, so that ids of two servers differ. */
const requestIdPrefix = randomBytes(6).toString("hex");
let requestCount = 0;

/** Returns the path of a target in origin-form or absolute-form, without its query. Without a path, it is `/`. */
export function toPath(target: string): string {
  const [beforeQuery = ""] = target.split("?", 1);
  if (beforeQuery.startsWith("/")) return beforeQuery;
  return beforeQuery.replace(/^https?:\/\/[^/]*/i, "") || "/";
}

/** Returns the first valid X-Request-Id of the client, or a new id. */
export function toRequestId(headers: HttpHeaders): string {
  const fromClient = headers["x-request-id"]?.find((value) => validRequestId.test(value));
  return fromClient ?? `${requestIdPrefix}-${(++requestCount).toString(36)}`;
}

/** Returns the trace id of the header traceparent. @returns undefined without exactly one valid header */
export function findTraceId({ traceparent: values }: HttpHeaders): string | undefined {
  return values?.length === 1 ? toTraceId(values[0] ?? "") : undefined;
}
