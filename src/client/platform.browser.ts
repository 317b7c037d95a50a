/** A part of a browser that a bulk create needs. */

/** Resolves in the next turn of the event loop. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}
