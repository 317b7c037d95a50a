import fc from "fast-check";
import { expect, it } from "vitest";
import { SortedIds } from "../../src/store/memory.ts";

const toBigInts = (numbers: readonly number[]): bigint[] => numbers.map(BigInt);
const ascending = (ids: Iterable<bigint>): bigint[] =>
  [...ids].toSorted((a, b) => (a < b ? -1 : 1));

it("has the ids that were added and not deleted, in order, whatever the order of the changes", () => {
  const step = fc.record({ id: fc.bigInt({ min: -2000n, max: 2000n }), isAdded: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5000, size: "max" }), (steps) => {
      const ids = new SortedIds();
      const expected = new Set<bigint>();
      for (const { id, isAdded } of steps) {
        if (isAdded && !expected.has(id)) ids.add(id);
        if (!isAdded && expected.has(id)) ids.delete(id);
        if (isAdded) expected.add(id);
        else expected.delete(id);
      }
      const sorted = ascending(expected);
      expect([...ids.after(undefined)]).toEqual(sorted);
      for (const id of [-3000n, ...sorted.slice(0, 20), 7n, 3000n]) {
        expect([...ids.after(id)]).toEqual(sorted.filter((each) => each > id));
      }
    }),
    { numRuns: 50 },
  );
});

it.each([
  ["ascending", (index: number) => index],
  ["descending", (index: number) => -index],
  ["in a mixed order", (index: number) => (index * 7919) % 100_003],
])("keeps many ids that arrive %s", (_order, toNumber) => {
  const added = toBigInts(Array.from({ length: 20_000 }, (_, index) => toNumber(index)));
  const ids = new SortedIds();
  for (const id of added) ids.add(id);
  const sorted = ascending(added);
  expect([...ids.after(undefined)]).toEqual(sorted);
  for (const id of added.filter((each) => each % 3n !== 0n)) ids.delete(id);
  expect([...ids.after(undefined)]).toEqual(sorted.filter((each) => each % 3n === 0n));
  ids.clear();
  expect([...ids.after(undefined)]).toEqual([]);
});
