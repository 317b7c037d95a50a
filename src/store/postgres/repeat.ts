/** Tries again what fails in passing. */
import { setTimeout as sleep } from "node:timers/promises";

const firstPauseMs = 10;
const longestPauseMs = 500;

/**
 * Repeats `work` as long as its failures pass, with pauses that grow and are never quite the same, so that those who got
 * into each other's way don't meet again.
 *
 * @param patienceMs after it no other attempt is begun
 * @throws the last failure of `work`
 */
export async function repeatWhile<T>(
  isPassing: (error: unknown) => boolean,
  patienceMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || performance.now() + pauseMs > deadlineMs) throw error;
      await sleep(pauseMs * (0.5 + 0.5 * Math.random()));
    }
  }
}
