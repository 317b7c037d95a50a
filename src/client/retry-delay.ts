/** Delays between the attempts of a create. */

/** Delay before the first retry; it doubles for each further retry. */
const firstDelayMs = 200;
const maxDelayMs = 5000;
/** Limit for the delay that a server asks for. */
const maxRetryAfterMs = 10_000;

/**
 * Returns the delay before a retry in milliseconds: exponential backoff with random jitter of up to a half. It is at least
 * the time that the server asked for, up to 10 seconds.
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
  const fullMs = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs);
  const jitteredMs = fullMs * (1 - random / 2);
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, maxRetryAfterMs));
}

/**
 * Parses a Retry-After header: seconds or a date (RFC 9110 section 10.2.3).
 *
 * @param nowMs milliseconds since the epoch
 * @returns milliseconds; undefined for any other text
 */
export function parseRetryAfter(text: string, nowMs: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
