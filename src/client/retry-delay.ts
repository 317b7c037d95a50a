/** How long to wait before a create is repeated. */

/** Before the first repetition; twice as long before each further one. */
const firstDelayMs = 200;
const maxDelayMs = 5000;
/** A server may ask for more time than that, and waits for nothing then. */
const maxRetryAfterMs = 10_000;

/**
 * Milliseconds to wait after a failed attempt: exponential, with up to a half taken off at random, so that clients that
 * failed together do not come back together; and no less than the server asked for, within reason.
 *
 * @param attempt that failed, counted from 1
 * @param retryAfterMs what the server asked for
 * @param random in [0, 1)
 */
export function toRetryDelayMs(
  attempt: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  const fullMs = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs);
  const jitteredMs = fullMs * (1 - random / 2);
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, maxRetryAfterMs));
}

/**
 * The value of a Retry-After header in milliseconds: seconds, or a date (RFC 9110 section 10.2.3).
 *
 * @param nowMs milliseconds since the epoch
 * @returns undefined when it is neither
 */
export function parseRetryAfter(text: string, nowMs: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
