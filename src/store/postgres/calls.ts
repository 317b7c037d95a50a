/** Calls of the engine: several attempts within a limited time. */
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../../core/store.ts";
import { toCode } from "../store-failure.ts";
import { createError, isTransient, toStoreError } from "./postgres-error.ts";
import type { Limits } from "./settings.ts";

/** Makes an attempt, and others after transient failures. */
type Call = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Creates a function that retries work and rejects when the time for a call is over. An attempt that has not ended by
 * then continues without its caller.
 *
 * @param isInOrder whether a call starts only after every attempt of the previous call has ended
 */
export function createCaller(
  place: string,
  { callMs, shortCallMs }: Limits,
  isInOrder: boolean,
): Call {
  // Calls that are queued after a failing one have waited long enough.
  let isDown = false;
  let previous: Promise<unknown> = Promise.resolve();

  return async (work) => {
    const limitMs = isDown ? shortCallMs : callMs;
    const deadlineMs = performance.now() + limitMs;
    const attempts = (isInOrder ? previous : Promise.resolve()).then(() =>
      retryWhile(isTransient, deadlineMs, work),
    );
    previous = attempts.then(
      () => (isDown = false),
      (error: unknown) => (isDown = isTransient(error)),
    );
    try {
      return await within(limitMs, attempts);
    } catch (error) {
      if (toCode(error) === "TIMEOUT") isDown = true;
      throw toRetryableError(toStoreError(error, place));
    }
  };
}

/** A store that was opened may become usable again, for example after its password is corrected: clients retry `busy`. */
function toRetryableError(error: StoreError): StoreError {
  if (error.reason !== "unusable") return error;
  return new StoreError("busy", error.message, { cause: error.cause });
}

/** Rejects when the promise does not settle in time. */
async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(createTimeoutError()), limitMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function createTimeoutError(): Error {
  return createError("TIMEOUT", "timeout");
}

const firstPauseMs = 10;
const longestPauseMs = 500;

/**
 * Repeats `work` with growing, random pauses, so that writers that conflicted do not meet again.
 *
 * @param deadlineMs of `performance.now()`; no attempt starts after it
 * @throws the last error of `work`
 */
export async function retryWhile<T>(
  isRetryable: (error: unknown) => boolean,
  deadlineMs: number,
  work: () => Promise<T>,
): Promise<T> {
  if (performance.now() > deadlineMs) throw createTimeoutError();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || performance.now() + pauseMs > deadlineMs) throw error;
      await sleep(pauseMs * (0.5 + 0.5 * Math.random()));
    }
  }
}
