import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { pause } from "../../src/client/pause.ts";

const hour = 3_600_000;

it("a pause ends after its time", async () => {
  const { signal } = new AbortController();
  await pause(1, [signal, undefined]);
  expect(signal.aborted).toBe(false);
});

it.each([0, 1])("a pause ends with signal %i of two, and removes its listeners", async (index) => {
  const ends = [new AbortController(), new AbortController()];
  const signals = ends.map(({ signal }) => signal);
  const paused = pause(hour, signals);
  ends[index]?.abort();
  await paused;
  expect(signals.flatMap((signal) => getEventListeners(signal, "abort"))).toEqual([]);
});

it("a pause ends at once if a signal is already aborted", async () => {
  const { signal } = new AbortController();
  await pause(hour, [signal, AbortSignal.abort()]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
