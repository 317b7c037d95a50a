/** A request as the handler sees it, and the checks that node:http leaves to the server (RFC 9112, contract.md "HTTP"). */
import { RequestError } from "../core/errors.ts";

/** Maximum length of a request target, in bytes. */
export const maxTargetBytes = 8 * 1024;
/** Maximum length of all header names and values together, in bytes. */
export const maxHeaderBytes = 16 * 1024;

/** All values of each header, by lower-case name. */
export type HttpHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** One request, independent of the transport that received it. */
export interface HttpRequest {
  readonly method: string;
  /** Request target in origin-form or absolute-form. */
  readonly target: string;
  readonly headers: HttpHeaders;
  /** Set if the transport rejects the request. */
  readonly error: RequestError | undefined;
  /** True if the request arrived after the server began to stop. */
  readonly isLate: boolean;
  /**
   * Reads the whole body.
   *
   * @returns the bytes, or a RequestError `bodyTooLarge`, `overloaded`, `malformedHttp` or `requestTimeout`
   */
  readBody(maxBytes: number): Promise<Uint8Array | RequestError>;
}

/** The parts of a request head that {@link checkHead} reads; node:http's IncomingMessage has them. */
export interface RawHead {
  readonly httpVersion: string;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly headersDistinct: HttpHeaders;
}

/**
 * Checks a request head.
 *
 * @returns undefined for a valid head, otherwise `targetTooLong`, `headersTooLarge` or `malformedHttp`
 */
export function checkHead(head: RawHead): RequestError | undefined {
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

/** Error for a body whose end is missing. */
export const bodyEndedEarly = malformed("the connection ended before the body did");

function malformed(message: string): RequestError {
  return new RequestError("malformedHttp", message);
}
