/** Delays between attempts, and waits that an abort signal can end. */

/** Delay before the first retry; it doubles for each further retry. */
const firstDelayMs = 200;
const maxDelayMs = 5000;
/** Limit for the delay that a server asks for. */
const maxRetryAfterMs = 10_000;

/**
 * Resolves after a time in milliseconds, or when one of the signals is aborted.
 *
 * Does not use `AbortSignal.any`. Node 20: a long-lived signal keeps a part of every signal derived from it. Node 22: the same.
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
 * Returns the delay before a retry in milliseconds: exponential backoff with random jitter of up to a half. It is at least
 * the time that the server asked for, up to 10 seconds, and 0 if the server asked for none.
 *
 * @param attempt number of the failed attempt, counted from 1
 * @param retryAfterMs value of the Retry-After header
 * @param random in [0, 1)
 */
export function toRetryDelayMs(
  attempt: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  if (retryAfterMs === 0) return 0;
  const fullMs = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs);
  const jitteredMs = fullMs * (1 - random / 2);
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, maxRetryAfterMs));
}

/**
 * Parses a Retry-After header: seconds or a date (RFC 9110 section 10.2.3).
 *
 * @param nowMs milliseconds since the epoch
 * @returns milliseconds; undefined for any other text, and for a past date, which may come from a slow clock
 */
export function parseRetryAfter(text: string, nowMs: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const waitMs = Date.parse(text) - nowMs;
  return waitMs > 0 ? waitMs : undefined;
}
