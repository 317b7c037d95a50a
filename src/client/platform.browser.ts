/** Parts of a browser that a bulk create needs. */

/** Browsers do not limit listeners. */
export function setMaxListeners(): void {}

/** Resolves in the next turn of the event loop. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}
