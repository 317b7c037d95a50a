import { describe, expect, it } from "vitest";
import { joinPath, parseBaseUrl, toEndpoint } from "../../src/core/base-url.ts";

describe("the URL of a Unix socket", () => {
  it.each([
    ["unix:/run/plants.sock", "unix:/run/plants.sock"],
    ["unix:///run/plants.sock", "unix:/run/plants.sock"],
    ["unix:/run/plants.sock:", "unix:/run/plants.sock"],
    ["unix:/run/plants.sock:/", "unix:/run/plants.sock"],
    ["unix:/run/plants.sock:/v1//", "unix:/run/plants.sock:/v1"],
    ["unix:/run/a b%20ü?#.sock", "unix:/run/a b%20ü?#.sock"],
  ])("%s is read as %s", (text, url) => {
    expect(parseBaseUrl(text)).toBe(url);
  });

  it.each([
    "unix:",
    "unix:/",
    "unix:plants.sock",
    "unix://plants.sock",
    "unix:////run/plants.sock",
    "unix:/run/plants.sock:v1",
    "unix:/run/a\nb.sock",
  ])("%j is rejected, with an example", (text) => {
    expect(() => parseBaseUrl(text)).toThrow(
      "must be unix: and the absolute path of a socket, such as unix:/run/plants.sock, with :/v1 for a base path",
    );
  });

  it.each(["unix:/run/plants.sock:/v1?a", "unix:/run/plants.sock:/v1#a"])(
    "%s is rejected because of its query or fragment",
    (text) => {
      expect(() => parseBaseUrl(text)).toThrow("must be a URL without ? and #");
    },
  );

  it("is rejected if its path is longer than every system supports", () => {
    expect(parseBaseUrl(`unix:/${"x".repeat(102)}`)).toHaveLength(108);
    expect(() => parseBaseUrl(`unix:/${"ü".repeat(52)}`)).toThrow("more than 103 bytes");
  });
});

it.each([
  ["http://127.0.0.1:7526/v1", "http://127.0.0.1:7526", undefined, "http://127.0.0.1:7526/v1"],
  ["unix:/run/p.sock", "unix:/run/p.sock", "/run/p.sock", "http://localhost"],
  ["unix:/run/p.sock:/v1", "unix:/run/p.sock", "/run/p.sock", "http://localhost/v1"],
])("sends requests for %s to %s", (url, origin, socketPath, httpUrl) => {
  expect(toEndpoint(url)).toEqual({ origin, httpUrl, ...(socketPath && { socketPath }) });
});

it.each([
  ["https://plants.example.org/v1", "https://plants.example.org/v1/plants"],
  ["unix:/run/p.sock", "unix:/run/p.sock:/plants"],
  ["unix:/run/p.sock:/v1", "unix:/run/p.sock:/v1/plants"],
])("the path /plants of %s is %s", (baseUrl, url) => {
  expect(joinPath(baseUrl, "/plants")).toBe(url);
});
