/** Ends the reading of requests in the middle of what has come, for which node:http has no call of its own. */
import type { Socket } from "node:net";

/** What node:http hangs on a socket (its lib/_http_server.js), as far as it is used here. */
interface ParsedSocket {
  readonly parser?: {
    /** Called with each request once its head is there; the parser goes on if it gives 0. */
    onIncoming?: unknown;
  } | null;
}

/** The code of the `clientError` that follows. */
export const stoppedCode = "HPE_PAUSED";
/** The number that llhttp has for it. */
const pausedNumber = 21;

/**
 * Reads no request behind the one that is just announced. One piece of 64 KiB holds two thousand small requests, for
 * which node:http makes objects of 3 MB; pausing the socket or its parser works only between pieces, and
 * `maxRequestsPerSocket` makes them all the same. Where a Node has no such parser, it reads them.
 */
export function stopReading(socket: Socket): void {
  const { parser } = socket as ParsedSocket;
  if (typeof parser?.onIncoming === "function") parser.onIncoming = () => pausedNumber;
}
