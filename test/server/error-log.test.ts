/** What the server says of its own trouble. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { StoreError } from "../../src/core/store.ts";
import { createErrorLog } from "../../src/server/error-log.ts";

function createTested() {
  const lines: string[] = [];
  return { lines, log: createErrorLog((text) => lines.push(text)) };
}

it("trouble with the store is one line with the time", () => {
  const { lines, log } = createTested();
  log(new StoreError("full", "the store has no room"));
  expect(lines).toEqual([expect.stringMatching(/^\d{4}-\S+Z store: the store has no room\n$/)]);
});

it("a bug comes with its stack", () => {
  const { lines, log } = createTested();
  log(new TypeError("x is not a function"));
  expect(lines[0]).toMatch(/unexpected: TypeError: x is not a function\n +at /);
});

it("the same trouble is told once a second, however it alternates with others", async () => {
  const { lines, log } = createTested();
  const troubles = ["no room", "locked"].map((message) => new StoreError("full", message));
  for (let count = 0; count < 1000; count++) for (const trouble of troubles) log(trouble);
  expect(lines).toHaveLength(2);
  await sleep(1100);
  for (const trouble of troubles) log(trouble);
  expect(lines).toHaveLength(4);
});
