/** Which uses of tokens are recorded, and when. */
import { expect, it } from "vitest";
import { createTokenUses, toDay } from "../../src/auth/authenticator.ts";

const dayMs = 86_400_000;

/** Creates a collection with a clock that a test sets, and the list of its calls of the store. */
function createTested(note: () => Promise<void> = async () => {}) {
  const noted: [digests: readonly string[], day: number][] = [];
  const clock = { ms: 0 };
  const store = {
    async recordTokenUse(digests: readonly string[], day: number) {
      noted.push([digests, day]);
      await note();
    },
  };
  const uses = createTokenUses(store, () => clock.ms);
  return { uses, noted, clock };
}

it.each([
  [0, 0],
  [dayMs - 1, 0],
  [dayMs, 1],
  [Date.UTC(2026, 10, 21, 23, 59, 59), Date.UTC(2026, 10, 21) / dayMs],
  [-1, -1],
])("converts the time %i to the day %i", (timeMs, day) => {
  expect(toDay(timeMs)).toBe(day);
});

it("records a token once a day, although the store has an earlier day", async () => {
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

it("records a use before midnight for that day", async () => {
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

it("ignores a failure of the store, and records the token at its next use", async () => {
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
