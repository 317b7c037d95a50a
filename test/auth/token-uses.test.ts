/** Which uses of tokens are noted, and when. */
import { expect, it } from "vitest";
import { createTokenUses, toDay } from "../../src/auth/token-uses.ts";

const dayMs = 86_400_000;

/** A collection at a time that a test sets, and what came to the store. */
function createTested(note: () => Promise<void> = async () => {}) {
  const noted: [digests: readonly string[], day: number][] = [];
  const clock = { ms: 0 };
  const uses = createTokenUses(
    async (digests, day) => {
      noted.push([digests, day]);
      await note();
    },
    () => clock.ms,
  );
  return { uses, noted, clock };
}

it.each([
  [0, 0],
  [dayMs - 1, 0],
  [dayMs, 1],
  [Date.UTC(2026, 10, 21, 23, 59, 59), Date.UTC(2026, 10, 21) / dayMs],
  [-1, -1],
])("the time %i is on the day %i", (timeMs, day) => {
  expect(toDay(timeMs)).toBe(day);
});

it("a token is noted once a day, whatever the store was read to say", async () => {
  const { uses, noted, clock } = createTested();
  uses.add("a", undefined);
  await uses.flush();
  uses.add("a", undefined);
  uses.add("b", -1);
  uses.add("c", 0);
  uses.add("d", 7);
  await uses.flush();
  await uses.flush();
  clock.ms = dayMs;
  uses.add("a", 0);
  await uses.flush();
  expect(noted).toEqual([
    [["a"], 0],
    [["b"], 0],
    [["a"], 1],
  ]);
});

it("what was used before midnight is noted for that day", async () => {
  const { uses, noted, clock } = createTested();
  uses.add("a", undefined);
  clock.ms = dayMs;
  uses.add("b", undefined);
  await uses.flush();
  expect(noted).toEqual([
    [["a"], 0],
    [["b"], 1],
  ]);
});

it("what could not be noted hurts nobody, and is noted at the next use", async () => {
  let isBroken = true;
  const { uses, noted } = createTested(async () => {
    if (isBroken) throw new Error("disk full");
  });
  uses.add("a", undefined);
  await uses.flush();
  isBroken = false;
  await uses.flush();
  expect(noted).toHaveLength(1);
  uses.add("a", undefined);
  await uses.flush();
  expect(noted).toEqual([
    [["a"], 0],
    [["a"], 0],
  ]);
});
