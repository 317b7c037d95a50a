/** A clock that a test moves, for the time limits of the server. */
import { onTestFinished, vi } from "vitest";

/**
 * Stops `setTimeout` and `performance.now` until the test ends. Sockets, node:http and `node:timers/promises` keep the
 * real time; `expect.poll` and `vi.waitFor` move the stopped clock.
 *
 * @returns a function that moves the clock
 */
export function stopClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}
