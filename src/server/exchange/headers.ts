/** The checks of a request's head that node:http leaves to us (RFC 9112 section 3.2, CONTRACT "HTTP"). */
import type { IncomingMessage } from "node:http";
import { Refusal } from "../../core/errors.ts";
import { isSaneRequestId } from "./request-id.ts";

/** The longest request target, in bytes. */
export const maxTargetBytes = 8 * 1024;
/** The most that the names and values of all headers may add up to, in bytes. */
export const maxHeaderBytes = 16 * 1024;

/** What the head of a request says; of fields that node:http would show only the first of, all values. */
export interface RequestHead {
  readonly authorizations: readonly string[];
  readonly contentTypes: readonly string[];
  readonly contentEncodings: readonly string[];
  readonly transferEncodings: readonly string[];
  /** How many bytes the body is announced to have: undefined when nothing is said of it, or it comes in chunks. */
  readonly contentLength: number | undefined;
  /** What the client expects of the server before it sends the body. */
  readonly expectations: readonly string[];
  /** What the client calls this request. */
  readonly requestId: string | undefined;
  /** Why nothing more is to be read of the request: `targetTooLong`, `headersTooLarge`, `malformedHttp`. */
  readonly refusal: Refusal | undefined;
  /** It is the last one on its connection: what is behind it may not be what it seems. */
  readonly isLast: boolean;
}

const host = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Reads the head of a request in one pass, and without `headers` of node:http, which makes an object of all of them. */
export function readHead(request: IncomingMessage): RequestHead {
  const authorizations: string[] = [];
  const contentTypes: string[] = [];
  const contentEncodings: string[] = [];
  const transferEncodings: string[] = [];
  const expectations: string[] = [];
  const hosts: string[] = [];
  let contentLength: number | undefined;
  let requestId: string | undefined;
  let isUpgrade = false;
  let bytes = 0;
  const { rawHeaders, httpVersion, url = "" } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    const value = rawHeaders[index + 1] ?? "";
    bytes += name.length + value.length;
    switch (name.toLowerCase()) {
      case "host":
        hosts.push(value);
        break;
      case "content-type":
        contentTypes.push(value);
        break;
      case "content-length":
        // node:http takes no second one.
        contentLength = Number(value);
        break;
      case "authorization":
        authorizations.push(value);
        break;
      case "content-encoding":
        contentEncodings.push(value);
        break;
      case "transfer-encoding":
        transferEncodings.push(value);
        break;
      case "expect":
        expectations.push(value);
        break;
      case "x-request-id":
        if (isSaneRequestId(value)) requestId = value;
        break;
      case "upgrade":
        // node:http throws away what came with a request for another protocol.
        isUpgrade = true;
        break;
      default:
    }
  }
  const malformation =
    checkVersion(httpVersion) ??
    checkHost(hosts, httpVersion) ??
    checkFraming(transferEncodings, httpVersion);
  return {
    authorizations,
    contentTypes,
    contentEncodings,
    transferEncodings,
    contentLength,
    expectations,
    requestId,
    refusal: checkSizes(url.length, bytes) ?? malformation,
    isLast: isUpgrade || malformation !== undefined,
  };
}

function checkSizes(targetBytes: number, headerBytes: number): Refusal | undefined {
  if (targetBytes > maxTargetBytes) return targetTooLong();
  return headerBytes > maxHeaderBytes ? headersTooLarge() : undefined;
}

/** The request target was longer than {@link maxTargetBytes}. */
export function targetTooLong(): Refusal {
  return new Refusal(
    "targetTooLong",
    `the request target is over ${maxTargetBytes} bytes: shorten it`,
  );
}

/** The headers added up to more than {@link maxHeaderBytes}. */
export function headersTooLarge(): Refusal {
  return new Refusal("headersTooLarge", `the headers are over ${maxHeaderBytes} bytes: send fewer`);
}

function checkVersion(httpVersion: string): Refusal | undefined {
  if (httpVersion === "1.1" || httpVersion === "1.0") return undefined;
  return malformed("the version of HTTP is not supported: send HTTP/1.1");
}

function checkHost(hosts: readonly string[], httpVersion: string): Refusal | undefined {
  const [value, ...others] = hosts;
  if (value === undefined) {
    if (httpVersion === "1.0") return undefined;
    return malformed("the Host header is missing: HTTP/1.1 needs exactly one");
  }
  if (others.length > 0) return malformed(`${hosts.length} Host headers: send exactly one`);
  if (host.test(value)) return undefined;
  return malformed("the Host header is not a host with an optional port");
}

/**
 * What others on the way may read differently (RFC 9112 section 6.1): between them and us, the end of one request would
 * be the beginning of another.
 */
function checkFraming(
  transferEncodings: readonly string[],
  httpVersion: string,
): Refusal | undefined {
  if (transferEncodings.length === 0) return undefined;
  if (httpVersion === "1.0") {
    return malformed("Transfer-Encoding needs HTTP/1.1: send Content-Length");
  }
  const codings = transferEncodings.flatMap((value) => value.split(","));
  if (codings.every((coding) => coding.trim() !== "")) return undefined;
  return malformed("Transfer-Encoding names nothing: leave it out");
}

function malformed(message: string): Refusal {
  return new Refusal("malformedHttp", message);
}
