/** A proxy that drops, delays and truncates data at random, like a bad network. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { openRawServer } from "../client/scripted-server.ts";
import { createRandom } from "./random.ts";

/**
 * Opens a proxy to a port of 127.0.0.1 until the test ends. The same seed gives the same random numbers.
 *
 * @param fates probabilities for a piece of data, 0 … 1: that the connection ends before it, that only its first half
 * arrives and the connection ends, and that it arrives some milliseconds later
 */
export async function openFlakyProxy(
  targetPort: number,
  fates: { readonly drop: number; readonly cut: number; readonly delay: number },
  seed: number,
) {
  const random = createRandom(seed);
  let broken = 0;

  async function pass(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      const dice = random();
      if (dice < fates.drop + fates.cut) {
        if (dice >= fates.drop) to.write(chunk.subarray(0, chunk.length / 2));
        broken++;
        to.destroySoon();
        from.destroy();
        return;
      }
      if (random() < fates.delay) await sleep(1 + random() * 20);
      if (!to.write(chunk)) await once(to, "drain");
    }
    to.end();
  }

  const url = await openRawServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    // The loop over the socket ends the other side.
    target.on("error", () => {});
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      pass(from, to).catch(() => to.destroy());
    }
  });
  return {
    url,
    /** Number of connections that it has ended. */
    broken: () => broken,
  };
}
