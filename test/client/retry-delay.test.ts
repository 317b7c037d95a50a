import { describe, expect, it } from "vitest";
import { parseRetryAfter, toRetryDelayMs } from "../../src/client/retry-delay.ts";

describe("the delay before a retry", () => {
  it.each([
    ["starts at 200 ms", 1, undefined, 0, 200],
    ["doubles with each attempt", 3, undefined, 0, 800],
    ["is never longer than 5 s", 50, undefined, 0, 5000],
    ["is shorter by up to a half at random", 1, undefined, 0.5, 150],
    ["is as long as the server asks for", 1, 3000, 0, 3000],
    ["is at most 10 s, even if the server asks for more", 1, 86_400_000, 0, 10_000],
    ["is not shorter if the server asks for less", 2, 0, 0, 400],
  ])("%s", (_rule, attempt, retryAfterMs, random, delayMs) => {
    expect(toRetryDelayMs(attempt, retryAfterMs, random)).toBe(delayMs);
  });
});

describe("parseRetryAfter", () => {
  const nowMs = Date.UTC(2030, 0, 1);
  it.each([
    ["2", 2000],
    ["0", 0],
    ["Tue, 01 Jan 2030 00:00:07 GMT", 7000],
    ["Mon, 31 Dec 2029 00:00:00 GMT", 0],
    ["soon", undefined],
    ["", undefined],
  ])("reads %j as %j ms", (text, delayMs) => {
    expect(parseRetryAfter(text, nowMs)).toBe(delayMs);
  });
});
