/** Returns the result of work, or undefined if it throws. Only for work whose failure needs no message. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
