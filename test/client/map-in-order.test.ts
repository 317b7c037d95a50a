import { describe, expect, it } from "vitest";
import { mapInOrder } from "../../src/client/map-in-order.ts";

const small = { concurrency: 4, toSize: () => 1, maxSize: 100 };

/** The numbers 1, 2, 3 …, and the largest one that was read. */
function count(total: number) {
  const state = { read: 0, isClosed: false };
  async function* generate(): AsyncGenerator<number> {
    try {
      while (state.read < total) yield ++state.read;
    } finally {
      state.isClosed = true;
    }
  }
  return { state, items: generate() };
}

/** Maps each item when the test asks for it. */
function createWork() {
  const ends = new Map<number, () => void>();
  const map = (item: number): Promise<number> =>
    new Promise((resolve) => ends.set(item, () => resolve(-item)));
  return { map, started: () => [...ends.keys()], end: (item: number) => ends.get(item)?.() };
}

describe("mapInOrder", () => {
  it("returns results in the order of the items, those of one turn together", async () => {
    const { map, started, end } = createWork();
    const results = mapInOrder(count(3).items, map, small);
    const first = results.next();
    await expect.poll(started).toEqual([1, 2, 3]);
    end(2);
    end(1);
    expect((await first).value).toEqual([-1, -2]);
    end(3);
    expect((await results.next()).value).toEqual([-3]);
    expect((await results.next()).done).toBe(true);
  });

  it("limits the items in flight", async () => {
    const { map, started, end } = createWork();
    const { state, items } = count(10);
    const results = mapInOrder(items, map, { ...small, concurrency: 2 });
    const first = results.next();
    await expect.poll(started).toEqual([1, 2]);
    end(2);
    await expect.poll(started).toEqual([1, 2, 3]);
    expect(state.read).toBe(3);
    end(1);
    expect((await first).value).toEqual([-1, -2]);
    await results.return();
  });

  it("reads nothing more while the results that were not taken have the maximum size", async () => {
    const { state, items } = count(10);
    const results = mapInOrder(items, async (item) => item, { ...small, maxSize: 3 });
    expect((await results.next()).value).toEqual([1, 2, 3]);
    expect(state.read).toBe(3);
    expect((await results.next()).value).toEqual([4, 5, 6]);
    await results.return();
  });

  it("throws an error of the items after the results of all earlier items", async () => {
    async function* items(): AsyncGenerator<number> {
      yield 1;
      throw new Error("the disk is gone");
    }
    const { map, started, end } = createWork();
    const results = mapInOrder(items(), map, small);
    const first = results.next();
    await expect.poll(started).toEqual([1]);
    end(1);
    expect((await first).value).toEqual([-1]);
    await expect(results.next()).rejects.toThrow("the disk is gone");
  });

  it("ends the items when the caller stops", async () => {
    const { state, items } = count(10);
    const results = mapInOrder(items, async (item) => item, { ...small, maxSize: 2 });
    await results.next();
    await results.return();
    await expect.poll(() => state.isClosed).toBe(true);
    expect(state.read).toBe(2);
  });

  it("does not map an item that arrives after the caller stopped", async () => {
    let arrive = (): void => {};
    let isClosed = false;
    async function* items(): AsyncGenerator<number> {
      try {
        yield 1;
        await new Promise<void>((resolve) => (arrive = resolve));
        yield 2;
      } finally {
        isClosed = true;
      }
    }
    const { map, started, end } = createWork();
    const results = mapInOrder(items(), map, small);
    const first = results.next();
    await expect.poll(started).toEqual([1]);
    end(1);
    await first;
    await results.return();
    arrive();
    await expect.poll(() => isClosed).toBe(true);
    expect(started()).toEqual([1]);
  });
});
