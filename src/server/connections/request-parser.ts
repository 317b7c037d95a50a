/** The parser of node:http, which it hangs on a socket without documenting it (its lib/_http_server.js). */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Has node:http announce a request to the listeners of its server, and tells its parser how to go on: with 0, as usual. */
export type Announce = (request: IncomingMessage, keepsAlive: boolean) => number;

interface ParsedSocket {
  readonly parser?: {
    /** Called with each request once its head is there. */
    onIncoming?: Announce | undefined;
    /** The request that came last. */
    incoming?: IncomingMessage | null;
  } | null;
}

/**
 * Puts something before the announcing of a connection's requests. Where a Node has no such parser, nothing happens: it
 * announces them by itself.
 */
export function wrapAnnouncing(socket: Socket, wrap: (announce: Announce) => Announce): void {
  const { parser } = socket as ParsedSocket;
  const announce = parser?.onIncoming;
  if (parser && typeof announce === "function") parser.onIncoming = wrap(announce);
}

/**
 * Lets go of a request that was answered past node:http, which does so itself behind its own answers: as long as its
 * connection is idle, its head and its body would be kept.
 */
export function forgetRequest(socket: Socket, request: IncomingMessage): void {
  const { parser } = socket as ParsedSocket;
  if (parser?.incoming === request) parser.incoming = null;
}

/** The code of the `clientError` that follows {@link stopReading}. */
export const stoppedCode = "HPE_PAUSED";
/** The number that llhttp has for it. */
const pausedNumber = 21;

/**
 * Reads no request behind the one that is just announced. One piece of 64 KiB holds two thousand small requests, for
 * which node:http makes objects of 3 MB; pausing the socket or its parser works only between pieces, and
 * `maxRequestsPerSocket` makes them all the same. Where a Node has no such parser, it reads them.
 */
export function stopReading(socket: Socket): void {
  wrapAnnouncing(socket, () => () => pausedNumber);
}
