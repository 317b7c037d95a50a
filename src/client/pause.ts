/** Waits that an abort signal can end. */

/** Time that {@link createPace} catches up after a delay of the process. */
const maxLagMs = 100;

/**
 * Resolves after a time in milliseconds, or when one of the signals is aborted.
 *
 * `AbortSignal.any` is not used: on Node 20 and 22 a long-lived signal keeps a part of every signal derived from it.
 */
export function pause(timeMs: number, ends: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const signal of ends) signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, timeMs);
    for (const signal of ends) signal?.addEventListener("abort", end);
    if (ends.some((signal) => signal?.aborted)) end();
  });
}

/**
 * Creates a function that limits a rate. The caller awaits it before each item; the first one resolves at once.
 *
 * @param perSecond above 0; Infinity for no limit
 * @param ends signals that end a pause early
 */
export function createPace(perSecond: number, ends: readonly AbortSignal[]): () => Promise<void> {
  let nextMs = performance.now();
  return async () => {
    const nowMs = performance.now();
    const startMs = Math.max(nextMs, nowMs - maxLagMs);
    nextMs = startMs + 1000 / perSecond;
    if (startMs > nowMs) await pause(startMs - nowMs, ends);
  };
}
