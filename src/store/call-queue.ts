/** Calls that are made one at a time, in their order. */

/** Makes the next call as soon as the last one has ended; the first one at the end of the event loop's turn. */
export interface CallQueue {
  /** @returns what the call gives, once its turn has come */
  add<T>(call: () => Promise<T>): Promise<T>;
  /** Makes the first call now, if it still waits for the end of the turn. */
  endTurn(): void;
}

/** An empty queue. */
export function createCallQueue(): CallQueue {
  const waiting: (() => void)[] = [];
  let isIdle = true;
  let endOfTurn: NodeJS.Immediate | undefined;

  function startNext(): void {
    endOfTurn = undefined;
    const start = waiting.shift();
    isIdle = start === undefined;
    start?.();
  }

  async function carryOut<T>(
    call: () => Promise<T>,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    let settle: () => void;
    try {
      const value = await call();
      settle = () => resolve(value);
    } catch (error) {
      settle = () => reject(error);
    }
    // Before anybody hears of this call: they may have a lot to do then.
    startNext();
    settle();
  }

  return {
    add(call) {
      if (isIdle) endOfTurn = setImmediate(startNext);
      isIdle = false;
      return new Promise((resolve, reject) => {
        waiting.push(() => void carryOut(call, resolve, reject));
      });
    },
    endTurn() {
      if (endOfTurn === undefined) return;
      clearImmediate(endOfTurn);
      startNext();
    },
  };
}
