/** Work that may fail without a message, or be aborted. */

/** Returns the result of work, or undefined if it throws. Only for work whose failure needs no message. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The only listener of a signal, for everything that its abort ends: Node warns of more than ten. */
class AbortListener extends Set<() => void> {
  handleEvent(): void {
    for (const act of this) act();
  }
}

const listeners = new WeakMap<AbortSignal, AbortListener>();

/**
 * Acts when a signal is aborted. The signal may outlive millions of requests, and must not keep any of them in memory, as
 * `AbortSignal.any` does in Node 20 and 22: a signal keeps a part of every signal that is derived from it.
 *
 * @param act must not throw
 * @returns a function that removes `act`
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  const listener = listeners.get(signal) ?? new AbortListener();
  listeners.set(signal, listener);
  if (listener.size === 0) signal.addEventListener("abort", listener);
  listener.add(act);
  return () => {
    listener.delete(act);
    if (listener.size === 0) signal.removeEventListener("abort", listener);
  };
}
