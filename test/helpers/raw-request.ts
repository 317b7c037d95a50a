/** Requests as the bytes that a client writes on its connection. */
import { testToken } from "./plant-server.ts";

/** Parts of a raw request that differ from the usual one. */
export interface RawRequestOptions {
  /** Default: `POST`. */
  readonly method?: string;
  /** Token to send; default: that of the test servers. */
  readonly token?: string;
  /** Request target; default: `/plants`. */
  readonly target?: string;
  /** Complete header lines before the usual ones, each with its line end. */
  readonly headers?: string;
}

/** Start of a create: every line of the head but its length and the empty line. */
export function toRawHead(options: RawRequestOptions = {}): string {
  const { method = "POST", token = testToken, target = "/plants", headers = "" } = options;
  return `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
}

/** A create of a body. */
export function toRawRequest(body: string, options?: RawRequestOptions): string {
  return `${toRawHead(options)}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A create of a plant without a tag. */
export function toRawCreate(id: number, name = "fern", options?: RawRequestOptions): string {
  return toRawRequest(`{"id":${id},"name":"${name}"}`, options);
}

/** A GET without a credential. */
export function toRawGet(target: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}
