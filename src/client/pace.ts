/** Keeps what is begun to a rate. */
import { pause } from "./pause.ts";

/** What may be caught up on after the process was held up, or could not sleep so shortly. */
const maxLagMs = 100;

/**
 * A function to be called before each one, which resolves when it may begin: the first one at once.
 *
 * @param perSecond Infinity: there is no bound, and no function
 * @param ends of which each ends a wait early
 */
export function createPace(
  perSecond: number,
  ends: readonly AbortSignal[],
): (() => Promise<void>) | undefined {
  if (perSecond === Number.POSITIVE_INFINITY) return undefined;
  let nextMs = performance.now();
  return async () => {
    const nowMs = performance.now();
    const beginMs = Math.max(nextMs, nowMs - maxLagMs);
    nextMs = beginMs + 1000 / perSecond;
    if (beginMs > nowMs) await pause(beginMs - nowMs, ends);
  };
}
