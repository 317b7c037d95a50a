import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { parseRetryAfter, pause, toRetryDelayMs } from "../../src/client/create-plant.ts";

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

it("any number of pauses share one listener of a signal, because Node warns of many", async () => {
  const ending = new AbortController();
  const { signal } = ending;
  const paused = Array.from({ length: 20 }, () => pause(hour, [signal]));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  ending.abort();
  await Promise.all(paused);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

describe("the delay before a retry", () => {
  it.each([
    ["starts at 200 ms", 1, undefined, 0, 200],
    ["doubles with each attempt", 3, undefined, 0, 800],
    ["is never longer than 5 s", 50, undefined, 0, 5000],
    ["is shorter by up to a half at random", 1, undefined, 0.5, 150],
    ["is as long as the server asks for", 1, 60, 0, 60_000],
    ["is not shorter if the server asks for less", 5, 1, 0, 3200],
    ["is 0 if the server asks for no delay", 2, 0, 0, 0],
  ])("%s", (_rule, attempt, retryAfterS, random, delayMs) => {
    expect(toRetryDelayMs(attempt, retryAfterS, random)).toBe(delayMs);
  });
});

describe("parseRetryAfter", () => {
  const nowMs = Date.UTC(2030, 0, 1);
  it.each([
    ["2", 2],
    ["0", 0],
    ["Tue, 01 Jan 2030 00:00:07 GMT", 7],
    ["Mon, 31 Dec 2029 00:00:00 GMT", undefined],
    ["soon", undefined],
    ["", undefined],
  ])("reads %j as %j s", (text, seconds) => {
    expect(parseRetryAfter(text, nowMs)).toBe(seconds);
  });
});
