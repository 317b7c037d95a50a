/**
 * Returns the result of work, or undefined if it throws. Only for work whose failure has no reason that a user must know.
 */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
