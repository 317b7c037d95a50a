import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { pause } from "../../src/client/pause.ts";

const hour = 3_600_000;

it("ends after its time", async () => {
  const { signal } = new AbortController();
  await pause(1, [signal, undefined]);
  expect(signal.aborted).toBe(false);
});

it.each([0, 1])("ends with signal %i of two, and listens to neither any more", async (index) => {
  const ends = [new AbortController(), new AbortController()];
  const signals = ends.map(({ signal }) => signal);
  const paused = pause(hour, signals);
  ends[index]?.abort();
  await paused;
  expect(signals.flatMap((signal) => getEventListeners(signal, "abort"))).toEqual([]);
});

it("is none when a signal is aborted already", async () => {
  const { signal } = new AbortController();
  await pause(hour, [signal, AbortSignal.abort()]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
