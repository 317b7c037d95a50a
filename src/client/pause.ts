/** A pause that signals can end early. */

/**
 * Resolves after a time, or as soon as one of the signals is aborted.
 *
 * `AbortSignal.any` would do, but on Node 20 and 22 signals that live on keep a part of all that was made of them.
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
