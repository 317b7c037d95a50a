/** What the server says of its own trouble; never of a request's content. */
import { StoreError } from "../core/store.ts";

/** The same trouble is told at most this often: a full disk fails thousands of requests a second. */
const repeatAfterMs = 1000;

/**
 * A listener for a server's `onError`: a line for trouble with the store, a stack for a bug.
 *
 * @param write takes lines, each with its line break
 */
export function createErrorLog(write: (text: string) => void): (error: unknown) => void {
  let told = new Set<string>();
  let sinceMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    const text = describe(error);
    const nowMs = performance.now();
    if (nowMs - sinceMs >= repeatAfterMs) {
      told = new Set();
      sinceMs = nowMs;
    }
    if (told.has(text)) return;
    told.add(text);
    write(`${new Date().toISOString()} ${text}\n`);
  };
}

function describe(error: unknown): string {
  if (error instanceof StoreError) return `store: ${error.message}`;
  const stack = error instanceof Error ? error.stack : undefined;
  return `unexpected: ${stack ?? String(error)}`;
}
