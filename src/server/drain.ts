/** Takes the rest of a refused request off the connection, so that the client gets to read the answer. */
import type { Exchange } from "./exchange.ts";

/**
 * Throws away the rest of a request's body. Resolves when it has ended or can't end any more, at the latest after
 * `maxBytes`; how long it may take is bounded by the time a request has to arrive.
 */
export function drainRequest(exchange: Exchange, maxBytes: number): Promise<void> {
  const { request } = exchange;
  return new Promise((resolve) => {
    let taken = 0;
    request.on("data", (chunk: Buffer) => {
      taken += chunk.length;
      if (taken > maxBytes) resolve();
    });
    request.once("end", resolve);
    request.once("close", resolve);
    exchange.onBroken(() => resolve());
    request.resume();
  });
}
