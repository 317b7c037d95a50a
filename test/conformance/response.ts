/** Parses the responses of any server, strictly: anything that can be read in two ways is a problem. */

/** A complete response. */
export interface Response {
  readonly status: number;
  /** By lower-case name. The values of a header that occurs several times are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bodyBytes: Uint8Array;
}

/** Maximum size of the status line and the headers, in bytes. */
const maxHeadBytes = 64 * 1024;
const statusLine = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/;
/** RFC 9110 section 5.5. It does not match the spaces around a value: that would take cubic time for many spaces. */
const headerLine = /^([!#$%&'*+.^_`|~\w-]+):([\t -~\u0080-\u00ff]*)$/;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const chunkSizeLine = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i;

/**
 * Creates a reader of the responses on one connection, which parses them as they arrive.
 *
 * @param isBodiless returns whether the final response at an index has no body, as the response to HEAD
 */
export function createResponseReader(isBodiless: (index: number) => boolean = () => false) {
  const responses: Response[] = [];
  let chunks: Buffer[] = [];
  let length = 0;
  /** Number of bytes without which the next response is incomplete. */
  let neededLength = 0;
  let finals = 0;
  let problem: string | undefined;

  function parse(isEnded: boolean): void {
    const bytes = Buffer.concat(chunks, length);
    let start = 0;
    while (start < bytes.length) {
      const read = readResponse(bytes, start, isBodiless(finals), isEnded);
      if (typeof read === "string") problem = read;
      if (typeof read === "number") neededLength = read - start;
      if (typeof read !== "object") break;
      responses.push(read.response);
      if (read.response.status >= 200) finals += 1;
      start = read.end;
      neededLength = 0;
    }
    chunks = [bytes.subarray(start)];
    length = bytes.length - start;
  }

  return {
    add(bytes: Buffer) {
      chunks.push(bytes);
      length += bytes.length;
    },
    /** @param isEnded whether the server has ended the connection */
    read(isEnded: boolean) {
      if (problem === undefined && length > 0 && (length >= neededLength || isEnded)) {
        parse(isEnded);
      }
      return {
        responses,
        /** True if more bytes follow the last complete response. */
        hasRest: length > 0,
        /** The part that no client can read. Bytes after it are not parsed. */
        problem,
      };
    },
  };
}

/** Reads one response. @returns a text for a problem, or for an incomplete response the position that its end has to reach at least */
function readResponse(
  bytes: Buffer,
  start: number,
  isBodiless: boolean,
  isEnded: boolean,
): { readonly response: Response; readonly end: number } | string | number {
  const headEnd = bytes.indexOf("\r\n\r\n", start);
  if (headEnd < 0 && bytes.length - start <= maxHeadBytes) return bytes.length + 1;
  if (headEnd < 0 || headEnd - start > maxHeadBytes) {
    return `the head of a response has more than ${maxHeadBytes} bytes, or the response is not HTTP`;
  }
  const [firstLine = "", ...lines] = bytes.toString("latin1", start, headEnd).split("\r\n");
  const [, digits] = statusLine.exec(firstLine) ?? [];
  if (digits === undefined) return "a response does not begin with an HTTP/1.1 status line";
  const status = Number(digits);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ""] = headerLine.exec(line) ?? [];
    if (name === undefined) return "a response has a malformed header line";
    const key = name.toLowerCase();
    const others = headers.get(key);
    headers.set(key, others === undefined ? value.trim() : `${others}, ${value.trim()}`);
  }
  const bodyStart = headEnd + 4;
  const complete = (bodyBytes: Uint8Array, end: number) => ({
    response: {
      status,
      headers: Object.fromEntries(headers),
      body: decoder.decode(bodyBytes),
      bodyBytes,
    },
    end,
  });
  if (isBodiless || status < 200 || status === 204 || status === 304) {
    return complete(new Uint8Array(), bodyStart);
  }
  const lengths = headers.get("content-length");
  const codings = headers.get("transfer-encoding");
  if (codings !== undefined) {
    if (lengths !== undefined) return "a response has both Content-Length and Transfer-Encoding";
    if (codings.toLowerCase() !== "chunked") return "a response has an unknown coding";
    const read = readChunks(bytes, bodyStart);
    return typeof read === "object" ? complete(read.body, read.end) : read;
  }
  if (lengths === undefined) {
    return isEnded ? complete(bytes.subarray(bodyStart), bytes.length) : bytes.length + 1;
  }
  if (!/^\d{1,15}$/.test(lengths)) return "a response has a malformed Content-Length";
  const end = bodyStart + Number(lengths);
  return end > bytes.length ? end : complete(bytes.subarray(bodyStart, end), end);
}

/** Reads a chunked body (RFC 9112 section 7.1). */
function readChunks(
  bytes: Buffer,
  start: number,
): { readonly body: Uint8Array; readonly end: number } | string | number {
  const chunks: Uint8Array[] = [];
  for (let position = start; ;) {
    const lineEnd = bytes.indexOf("\r\n", position);
    if (lineEnd < 0) return bytes.length + 1;
    const [, size] = chunkSizeLine.exec(bytes.toString("latin1", position, lineEnd)) ?? [];
    if (size === undefined) return "a response has a malformed chunk";
    const chunkStart = lineEnd + 2;
    const chunkEnd = chunkStart + Number.parseInt(size, 16);
    if (chunkEnd === chunkStart) {
      // Trailers end with an empty line.
      const hasTrailers = bytes.toString("latin1", chunkStart, chunkStart + 2) !== "\r\n";
      const end = hasTrailers ? bytes.indexOf("\r\n\r\n", chunkStart) + 4 : chunkStart + 2;
      if (end < chunkStart + 2 || end > bytes.length) return bytes.length + 1;
      return { body: Buffer.concat(chunks), end };
    }
    if (chunkEnd + 2 > bytes.length) return chunkEnd + 2;
    if (bytes.toString("latin1", chunkEnd, chunkEnd + 2) !== "\r\n") {
      return "a response has a malformed chunk";
    }
    chunks.push(bytes.subarray(chunkStart, chunkEnd));
    position = chunkEnd + 2;
  }
}
