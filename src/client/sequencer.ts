/** Does work with the same key one after the other, and all other work at once. */

/** Begins the work when all earlier work with its key is over, however that ended. */
export type Sequencer<Key> = <T>(key: Key, work: () => Promise<T>) => Promise<T>;

/** A sequencer that remembers nothing of keys with no work under way. */
export function createSequencer<Key>(): Sequencer<Key> {
  const lastByKey = new Map<Key, Promise<unknown>>();

  return (key, work) => {
    const previous = lastByKey.get(key);
    const result = previous === undefined ? work() : previous.then(work, work);
    lastByKey.set(key, result);
    const forget = (): void => {
      if (lastByKey.get(key) === result) lastByKey.delete(key);
    };
    result.then(forget, forget);
    return result;
  };
}
