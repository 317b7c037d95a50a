/** Recognizes the usual create request in the bytes of a connection. */
import type { HttpHeaders } from "../request.ts";

/** A complete create request with usual headers only. */
export interface UsualRequest {
  readonly target: string;
  readonly headers: HttpHeaders;
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

/**
 * Creates the parser. It accepts only bytes with one possible reading; node:http parses the others.
 *
 * @param createPath path of the create operation
 * @param maxBodyBytes maximum length of a body
 */
export function createUsualRequestParser(
  createPath: string,
  maxBodyBytes: number,
): UsualRequestParser {
  const requestLine = `POST ${createPath} HTTP/1.1`;
  return (bytes, start) => {
    const headEnd = bytes.indexOf("\r\n\r\n", start);
    if (headEnd < 0 || headEnd - start > maxHeadBytes) return undefined;
    const [firstLine, ...lines] = bytes.toString("latin1", start, headEnd).split("\r\n");
    if (firstLine !== requestLine) return undefined;
    const headers = parseHeaders(lines);
    if (headers === undefined) return undefined;
    const bodyLength = toBodyLength(headers);
    if (bodyLength === undefined || bodyLength > maxBodyBytes) return undefined;
    const bodyStart = headEnd + 4;
    const end = bodyStart + bodyLength;
    if (end > bytes.length) return undefined;
    return { target: createPath, headers, body: bytes.subarray(bodyStart, end), end };
  };
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
