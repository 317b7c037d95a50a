/** Work that may fail without a message, or be aborted. */

/** Returns the result of work, or undefined if it throws. Only for work whose failure needs no message. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** What to do when a signal is aborted: one listener for all of it, because Node warns of more than ten. */
class AbortListener extends Set<() => void> {
  handleEvent(): void {
    for (const act of this) act();
  }
}

const listeners = new WeakMap<AbortSignal, AbortListener>();

/**
 * Acts when a signal is aborted.
 *
 * @returns a function that ends this, so that the signal keeps nothing in memory. `AbortSignal.any` does not: a long-lived
 *   signal keeps a part of every signal derived from it (Node 20 and 22)
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  const listener = listeners.get(signal) ?? new AbortListener();
  listeners.set(signal, listener.add(act));
  // Changes nothing if it listens already.
  signal.addEventListener("abort", listener);
  return () => {
    listener.delete(act);
    if (listener.size === 0) signal.removeEventListener("abort", listener);
  };
}
