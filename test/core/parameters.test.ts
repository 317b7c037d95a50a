/** The parameters of paths and queries: which texts are integers, and which errors the others are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RequestError } from "../../src/core/errors.ts";
import { readId, readPageQuery } from "../../src/core/parameters.ts";
import { int64Max, int64Min } from "../../src/core/plant.ts";

const toNumber = (value: unknown): unknown => (value instanceof RequestError ? value.error : value);

describe("an id in a path", () => {
  it("is every int64 in decimal, exactly, and percent-decoded once", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: int64Min, max: int64Max }), (id) => {
        expect(readId(`${id}`)).toEqual(id);
        const encoded = Array.from(`${id}`, (digit) => `%${digit.charCodeAt(0).toString(16)}`);
        expect(readId(encoded.join(""))).toEqual(id);
        const twice = encoded.join("").replaceAll("%", "%25");
        expect(toNumber(readId(twice))).toBe(42202);
      }),
    );
  });

  it("is nothing else", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const isDecimal = /^-?(?:0|[1-9][0-9]{0,17})$/.test(text);
        const value = readId(encodeURIComponent(text.toWellFormed()));
        expect(value instanceof RequestError).toBe(!isDecimal);
      }),
    );
  });

  it.each([
    ["-0", 0n],
    ["9223372036854775807", int64Max],
    ["-9223372036854775808", int64Min],
    ["9223372036854775808", 42203],
    ["-9223372036854775809", 42203],
    ["1".repeat(8000), 42203],
    ["", 42202],
    ["1e3", 42202],
    ["1%0A", 42202],
    ["%C0%80", 42202],
    ["１", 42202],
  ])("%.30s is %o", (text, expected) => {
    expect(toNumber(readId(text))).toEqual(expected);
  });
});

describe("a query", () => {
  it("has defaults, and ignores other parameters", () => {
    expect(readPageQuery("")).toEqual({ limit: 100, after: undefined });
    expect(readPageQuery("x=1&x=2&%&=&limit=7&after=-1")).toEqual({ limit: 7, after: -1n });
  });

  it.each(["limit", "limit=%201"])("%s is not an integer", (query) => {
    expect(toNumber(readPageQuery(query))).toBe(42207);
  });

  it("names every broken rule, the first of the table first, and quotes what was written, cut", () => {
    const error = readPageQuery(`after=${"x".repeat(500)}&limit=1&limit=%07`);
    expect(error).toMatchObject({
      error: 42207,
      message: `limit occurs 2 times: send it once; after must be an integer from -9223372036854775808 to 9223372036854775807 in digits (got "${"x".repeat(40)}…")`,
    });
  });

  it("is not quoted with a token", () => {
    const secret = `pst_${"A".repeat(43)}`;
    expect(readPageQuery(`limit=${secret}`)).toMatchObject({
      message: expect.not.stringContaining("AAAAA") as string,
    });
  });
});
