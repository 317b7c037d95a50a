/** Takes the rest of a refused request off the connection, so that the client gets to read the answer. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Exchange } from "./exchange.ts";

/** How long a client may take to read the last answer on a connection. */
const lingerMs = 1000;

/** Why no more of a request is taken: it was all of it, it was too much, or the rest will not come. */
export type DrainEnd = "complete" | "over limit" | "broken";

/**
 * Throws away the rest of a request's body, `maxBytes` at the most. How long it may take is bounded by the time that a
 * request has to arrive.
 */
export function drainRequest(exchange: Exchange, maxBytes: number): Promise<DrainEnd> {
  const { request } = exchange;
  return new Promise((resolve) => {
    let taken = 0;
    request.on("data", (chunk: Buffer) => {
      taken += chunk.length;
      if (taken > maxBytes) resolve("over limit");
    });
    request.once("end", () => resolve("complete"));
    request.once("close", () => resolve("broken"));
    exchange.onBroken(() => resolve("broken"));
    request.resume();
  });
}

/**
 * Ends a connection whose last answer is written. Closing it with unread bytes on it would reset it, and so take the
 * answer from the client: for a moment they are thrown away.
 */
export function endGently(socket: Duplex): void {
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

/**
 * Has node:http end a connection gently behind its last answer, after which it calls `destroySoon`: requests that are not
 * read may be waiting on it.
 */
export function leaveGently(socket: Socket): void {
  socket.destroySoon = () => endGently(socket);
}
