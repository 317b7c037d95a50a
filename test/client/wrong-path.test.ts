/** The right URL after an Error for an unknown path. */
import { describe, expect, it } from "vitest";
import { findUrlAdvice } from "../../src/client/wrong-path.ts";

const toError = (path: string, right: string) => ({
  error: 40400,
  message: `unknown path "${path}": create plants with POST ${right}`,
});

describe("findUrlAdvice", () => {
  const origin = "http://127.0.0.1:7526";
  it.each([
    ["a missing base path", origin, "/plants", "/v1/plants", `use --url ${origin}/v1`],
    ["a wrong path", `${origin}/a/b`, "/a/b/plants", "/plants", `use --url ${origin}`],
    ["a path twice", `${origin}/plants`, "/plants/plants", "/plants", "remove /plants from --url"],
    [
      "a path twice after a base path",
      `${origin}/v1/plants`,
      "/v1/plants/plants",
      "/v1/plants",
      "remove /plants from --url",
    ],
    [
      "another base path below that of a proxy",
      "https://a.example/store/v2",
      "/v2/plants",
      "/v1/plants",
      "use --url https://a.example/store/v1",
    ],
    ["a socket", "unix:/a.sock:/v2", "/v2/plants", "/plants", "use --url unix:/a.sock"],
    ["a socket", "unix:/a.sock", "/plants", "/v1/plants", "use --url unix:/a.sock:/v1"],
    ["a path that a proxy replaced", `${origin}/a`, "/b/plants", "/plants", undefined],
  ])("finds the URL for %s: %s", (_what, url, path, right, advice) => {
    expect(findUrlAdvice(url, toError(path, right))).toBe(advice);
  });

  it("names no URL after another Error, or another message", () => {
    const error = toError("/plants", "/v1/plants");
    expect(findUrlAdvice(origin, { ...error, error: 40500 })).toBeUndefined();
    expect(findUrlAdvice(origin, { ...error, message: "no" })).toBeUndefined();
  });
});
