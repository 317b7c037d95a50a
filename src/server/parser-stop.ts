/** Ends the reading of requests in the middle of what has come, for which node:http has no call of its own. */
import type { Socket } from "node:net";

/** What node:http hangs on a socket (its lib/_http_server.js), as far as it is used here. */
interface ParsedSocket {
  readonly parser?: { readonly pause?: () => unknown } | null;
}

/** The code of the `clientError` that follows. */
export const stoppedCode = "HPE_PAUSED";

/**
 * Stops reading, to be called while a request is announced. One piece of 64 KiB holds two thousand small requests, for
 * which node:http makes objects of 10 MB: a hundred connections at a time would take a gigabyte, though none of them is
 * answered. Where a Node has no such parser, or does not stop at once, they do.
 */
export function stopReading(socket: Socket): void {
  const { parser } = socket as ParsedSocket;
  parser?.pause?.();
}
