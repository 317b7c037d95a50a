/** A response as the bytes of HTTP/1.1, and the end of a connection after its last one. */
import type { Socket } from "node:net";
import type { CompleteResponse, HeaderPairs } from "../response.ts";
import { STATUS_CODES } from "./node-http.ts";

/** The bytes of a response, as text: ASCII except for the body. */
export function toText({ status, body }: CompleteResponse, headers: HeaderPairs): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  return `${head}\r\n${body}`;
}

/**
 * Returns the headers that depend on when and how a response is sent.
 *
 * @param keepAliveSeconds time for which an idle connection stays open; undefined if the connection closes
 */
export function toConnectionHeaders(keepAliveSeconds: number | undefined): HeaderPairs {
  const date = ["Date", toDate()] as const;
  if (keepAliveSeconds === undefined) return [date, ["Connection", "close"]];
  return [date, ["Connection", "keep-alive"], ["Keep-Alive", `timeout=${keepAliveSeconds}`]];
}

let lastSecond = 0;
let lastDate = "";

/** The current date in the format of RFC 9110 section 5.6.7, formatted once a second. */
function toDate(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastDate = new Date(nowMs).toUTCString();
  }
  return lastDate;
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
