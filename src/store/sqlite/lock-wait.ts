/** Waits for locks that other connections hold, without holding up the thread meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "./failure.ts";

/** How long others may keep a lock before it is a failure: as long as a server with a slow disk may take to flush. */
const timeoutMs = 5000;

const pauseMs = 1;

/**
 * Does work again for as long as it fails because of a lock.
 *
 * SQLite could wait by itself, but ever less often, up to 100 ms apart, so that a busy server all but locks out a
 * second one on the same file; and a thread that waits inside of SQLite can't be ended.
 *
 * @param work a transaction of its own, or nothing that needs one
 * @throws what `work` throws, its last failure because of a lock included
 */
export async function whileBusy<T>(work: () => T): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
    }
    await sleep(pauseMs);
  }
}
