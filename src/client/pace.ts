/** Keeps what is begun to a rate. */
import { setTimeout as sleep } from "node:timers/promises";

/** What may be caught up on after the process was held up, or could not sleep so shortly. */
const maxLagMs = 100;

/**
 * A function that resolves when the next one may begin. The first one may at once.
 *
 * @param perSecond Infinity: there is no bound, and no function
 * @param signal ends a wait early
 */
export function createPace(
  perSecond: number,
  signal: AbortSignal,
): (() => Promise<void>) | undefined {
  if (perSecond === Number.POSITIVE_INFINITY) return undefined;
  let nextMs = performance.now();
  return async () => {
    const nowMs = performance.now();
    nextMs = Math.max(nextMs, nowMs - maxLagMs) + 1000 / perSecond;
    if (nextMs <= nowMs) return;
    await sleep(nextMs - nowMs, undefined, { signal }).catch(() => undefined);
  };
}
