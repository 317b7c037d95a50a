/** Takes the rest of a refused request off the connection, so that the client gets to read the answer. */
import type { Exchange } from "./exchange.ts";

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
