/** A response as the bytes of HTTP/1.1, and the end of a connection after its last one. */
import type { Socket } from "node:net";
import type { HeaderPairs } from "../../core/errors.ts";
import type { CompleteResponse } from "../response.ts";
import { STATUS_CODES } from "./node-http.ts";

/** The bytes of a response, as text: ASCII except for the body. */
export function toResponseText(
  { status, headers, body }: CompleteResponse,
  connectionHeaders: HeaderPairs,
): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  for (const [name, value] of connectionHeaders) head += `${name}: ${value}\r\n`;
  return `${head}\r\n${body.toString()}`;
}

/** Returns the headers that depend on when a response is sent, and on whether it is the last one of its connection. */
export type ConnectionHeaders = (isLast: boolean) => HeaderPairs;

/** @param idleTimeoutMs time for which an idle connection stays open */
export function createConnectionHeaders(idleTimeoutMs: number): ConnectionHeaders {
  const keepAlive = [
    ["Connection", "keep-alive"],
    ["Keep-Alive", `timeout=${Math.floor(idleTimeoutMs / 1000)}`],
  ] as const;
  let second = 0;
  let headers: HeaderPairs = [];
  let lastHeaders: HeaderPairs = [];

  return (isLast) => {
    const nowMs = Date.now();
    const nowSecond = Math.floor(nowMs / 1000);
    // The date (RFC 9110 section 5.6.7) is formatted once a second.
    if (nowSecond !== second) {
      second = nowSecond;
      const date = ["Date", new Date(nowMs).toUTCString()] as const;
      headers = [date, ...keepAlive];
      lastHeaders = [date, ["Connection", "close"]];
    }
    return isLast ? lastHeaders : headers;
  };
}

/** Time for which a client may send nothing before an ended connection is closed. */
const lingerMs = 1000;
/** Maximum number of these times. */
const maxLingers = 5;

/**
 * Ends a connection after its last response. Closing it with unread bytes would reset it, and the client might lose the
 * response (RFC 9112 section 9.6), so the server first discards what the client still sends. May be called twice.
 */
export function lingeringClose(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  socket.end();
  socket.resume();
  let bytesRead = socket.bytesRead;
  let count = 0;
  const timer = setInterval(() => {
    if (socket.bytesRead === bytesRead || ++count === maxLingers) socket.destroy();
    ({ bytesRead } = socket);
  }, lingerMs);
  socket.once("close", () => clearInterval(timer));
}
