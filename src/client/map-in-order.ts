/** Maps items of a stream, several at a time, and returns the results in the order of the items. */
import { endOfTurn } from "./http-request.ts";

interface MapOptions<Item> {
  /** Maximum number of items in flight; at least 1. */
  readonly concurrency: number;
  /** Returns the size of an item, which counts until the caller has its result; by default 0. Must not throw. */
  readonly toSize?: (item: Item) => number;
  /** Limit for the size of all items. A single item may have more. */
  readonly maxSize?: number;
}

/**
 * Maps items. They are read only as fast as they are mapped and the caller asks for results.
 *
 * @param map must not reject
 * @returns the results in the order of the items, as soon as they are known; those of one turn of the event loop are a batch
 * @throws an error of the items, after the results of all earlier items
 */
export async function* mapInOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  map: (item: Item, index: number) => Promise<Result>,
  { concurrency, toSize = () => 0, maxSize = 1 }: MapOptions<Item>,
): AsyncGenerator<readonly Result[], void, undefined> {
  /** Items whose results the caller does not have yet. Without an outcome, the item is in flight. */
  const jobs: { readonly size: number; outcome?: { readonly result: Result } }[] = [];
  let inFlight = 0;
  let totalSize = 0;
  const state = { isRead: false, isClosed: false };
  const hasRoom = (): boolean => inFlight < concurrency && totalSize < maxSize;
  const waiting: (() => void)[] = [];
  const nextChange = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const notify = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  const work = async (item: Item, index: number): Promise<void> => {
    const job: (typeof jobs)[number] = { size: toSize(item) };
    jobs.push(job);
    inFlight++;
    totalSize += job.size;
    job.outcome = { result: await map(item, index) };
    inFlight--;
    notify();
  };
  const readItems = async (): Promise<void> => {
    let count = 0;
    try {
      for await (const item of items) {
        // The caller may have stopped while the item was read.
        if (!state.isClosed) void work(item, count++);
        while (!state.isClosed && !hasRoom()) await nextChange();
        if (state.isClosed) return;
      }
    } finally {
      state.isRead = true;
      notify();
    }
  };

  const reading = readItems();
  // Its error is thrown below, after the results.
  reading.catch(() => {});
  try {
    for (;;) {
      while (jobs[0]?.outcome === undefined) {
        if (state.isRead && jobs.length === 0) {
          await reading;
          return;
        }
        await nextChange();
      }
      await endOfTurn();
      const results: Result[] = [];
      let takenSize = 0;
      for (const { outcome, size } of jobs) {
        if (outcome === undefined) break;
        results.push(outcome.result);
        takenSize += size;
      }
      jobs.splice(0, results.length);
      yield results;
      totalSize -= takenSize;
      notify();
    }
  } finally {
    state.isClosed = true;
    notify();
  }
}
