/** Calls that are made in their order, one at a time or a few. */

/** Makes the next call as soon as the last one has ended; the first one at the end of the event loop's turn. */
export interface CallQueue {
  /**
   * @param mayOverlap whether it may be made while others are under way of which that holds as well
   * @returns what the call gives, once its turn has come
   */
  add<T>(call: () => Promise<T>, mayOverlap?: boolean): Promise<T>;
  /** Makes the next call as soon as it may be made: it waits neither for the end of the turn nor for calls that it may overlap. */
  hurry(): void;
}

interface WaitingCall {
  readonly start: () => void;
  readonly mayOverlap: boolean;
}

/**
 * An empty queue.
 *
 * @param maxOverlapping how many calls may be under way; 1: none overlap
 */
export function createCallQueue(maxOverlapping: number): CallQueue {
  const waiting: WaitingCall[] = [];
  let underWay = 0;
  let isOverlappable = true;
  let isHurried = false;
  let endOfTurn: NodeJS.Immediate | undefined;

  function startNext(): void {
    endOfTurn = undefined;
    isHurried = false;
    const next = waiting.shift();
    if (next === undefined) return;
    underWay++;
    isOverlappable = next.mayOverlap;
    next.start();
  }

  function hurry(): void {
    isHurried = true;
    const mayOverlap = isOverlappable && waiting[0]?.mayOverlap === true;
    if (underWay > 0 && !(mayOverlap && underWay < maxOverlapping)) return;
    clearImmediate(endOfTurn);
    startNext();
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
    underWay--;
    // Before anybody hears of this call: they may have a lot to do then.
    if (underWay === 0) startNext();
    else if (isHurried) hurry();
    settle();
  }

  return {
    add(call, mayOverlap = false) {
      if (underWay === 0) endOfTurn ??= setImmediate(startNext);
      return new Promise((resolve, reject) => {
        waiting.push({ start: () => void carryOut(call, resolve, reject), mayOverlap });
      });
    },
    hurry,
  };
}
