/** Parses the responses of any server, strictly: anything that can be read in two ways is a problem. */

/** A complete response. */
export interface Response {
  readonly status: number;
  /** Values by lower-case name, in their order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Uint8Array;
}

/** The responses in the bytes that were received so far. */
export interface ReadResponses {
  readonly responses: readonly Response[];
  /** True if more bytes follow the last complete response. */
  readonly hasRest: boolean;
  /** The part that no client can read. Bytes after it are not parsed. */
  readonly problem?: string;
}

/** Maximum size of the status line and the headers, in bytes. */
const maxHeadBytes = 64 * 1024;
const statusLine = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/;
/** RFC 9110 section 5.5. It does not match the spaces around a value: that would take cubic time for many spaces. */
const headerLine = /^([!#$%&'*+.^_`|~\w-]+):([\t -~\u0080-\u00ff]*)$/;
const chunkSizeLine = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i;

/**
 * Parses responses.
 *
 * @param isBodiless returns whether the final response at an index has no body, as the response to HEAD
 * @param isEnded whether the server has ended the connection
 * @param maxResponses number of responses after which the bytes are not parsed
 */
export function readResponses(
  bytes: Buffer,
  isBodiless: (index: number) => boolean,
  isEnded: boolean,
  maxResponses: number,
): ReadResponses {
  const responses: Response[] = [];
  let finals = 0;
  for (let start = 0; ;) {
    if (start === bytes.length || responses.length === maxResponses) {
      return { responses, hasRest: start < bytes.length };
    }
    const read = readResponse(bytes, start, isBodiless(finals), isEnded);
    if (read === undefined) return { responses, hasRest: true };
    if (typeof read === "string") return { responses, hasRest: true, problem: read };
    responses.push(read.response);
    if (read.response.status >= 200) finals += 1;
    start = read.end;
  }
}

/** Reads one response. @returns a text for a problem, undefined for an incomplete response */
function readResponse(
  bytes: Buffer,
  start: number,
  isBodiless: boolean,
  isEnded: boolean,
): { readonly response: Response; readonly end: number } | string | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n", start);
  if (headEnd < 0 && bytes.length - start <= maxHeadBytes) return undefined;
  if (headEnd < 0 || headEnd - start > maxHeadBytes) {
    return `the head of a response has more than ${maxHeadBytes} bytes, or the response is not HTTP`;
  }
  const [firstLine = "", ...lines] = bytes.toString("latin1", start, headEnd).split("\r\n");
  const [, digits] = statusLine.exec(firstLine) ?? [];
  if (digits === undefined) return "a response does not begin with an HTTP/1.1 status line";
  const status = Number(digits);
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value = ""] = headerLine.exec(line) ?? [];
    if (name === undefined) return "a response has a malformed header line";
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value.trim()]);
  }
  const bodyStart = headEnd + 4;
  const complete = (body: Uint8Array, end: number) => ({
    response: { status, headers, body },
    end,
  });
  if (isBodiless || status < 200 || status === 204 || status === 304) {
    return complete(new Uint8Array(), bodyStart);
  }
  const lengths = headers.get("content-length");
  const codings = headers.get("transfer-encoding");
  if (codings !== undefined) {
    if (lengths !== undefined) return "a response has both Content-Length and Transfer-Encoding";
    if (codings.join().toLowerCase() !== "chunked") return "a response has an unknown coding";
    const read = readChunks(bytes, bodyStart);
    return typeof read === "object" ? complete(read.body, read.end) : read;
  }
  if (lengths === undefined) {
    return isEnded ? complete(bytes.subarray(bodyStart), bytes.length) : undefined;
  }
  const [length = ""] = lengths;
  if (lengths.length > 1 || !/^\d{1,15}$/.test(length)) {
    return "a response has a malformed Content-Length";
  }
  const end = bodyStart + Number(length);
  return end > bytes.length ? undefined : complete(bytes.subarray(bodyStart, end), end);
}

/** Reads a chunked body (RFC 9112 section 7.1). */
function readChunks(
  bytes: Buffer,
  start: number,
): { readonly body: Uint8Array; readonly end: number } | string | undefined {
  const chunks: Uint8Array[] = [];
  for (let position = start; ;) {
    const lineEnd = bytes.indexOf("\r\n", position);
    if (lineEnd < 0) return undefined;
    const [, size] = chunkSizeLine.exec(bytes.toString("latin1", position, lineEnd)) ?? [];
    if (size === undefined) return "a response has a malformed chunk";
    const chunkStart = lineEnd + 2;
    const chunkEnd = chunkStart + Number.parseInt(size, 16);
    if (chunkEnd === chunkStart) {
      // Trailers end with an empty line.
      const hasTrailers = bytes.toString("latin1", chunkStart, chunkStart + 2) !== "\r\n";
      const end = hasTrailers ? bytes.indexOf("\r\n\r\n", chunkStart) + 4 : chunkStart + 2;
      if (end < chunkStart + 2 || end > bytes.length) return undefined;
      return { body: Buffer.concat(chunks), end };
    }
    if (chunkEnd + 2 > bytes.length) return undefined;
    if (bytes.toString("latin1", chunkEnd, chunkEnd + 2) !== "\r\n") {
      return "a response has a malformed chunk";
    }
    chunks.push(bytes.subarray(chunkStart, chunkEnd));
    position = chunkEnd + 2;
  }
}
