/** Every string is stored as text of PostgreSQL, and ordinary ones are unchanged. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromSqlText, toSqlText } from "../../../src/store/postgres/statements.ts";

/** Strings with many of the characters that are escaped, and of their escapes. */
const anyString = fc.string({
  unit: fc.oneof(fc.constantFrom("\0", "␛", "␀", "a"), fc.string({ unit: "binary", maxLength: 1 })),
});

describe("a string as text of PostgreSQL", () => {
  it.each([
    ["an ordinary name", "mönstera deliciosa 🌱", "mönstera deliciosa 🌱"],
    ["backslashes and quotes", "C:\\fern '\"", "C:\\fern '\""],
    ["the empty string", "", ""],
    ["NUL", "fern\0pot", "fern␛␀pot"],
    ["the symbol for NUL", "fern␀pot", "fern␀pot"],
    ["the symbol for escape", "fern␛pot", "fern␛␛pot"],
    ["the escape of NUL", "␛␀", "␛␛␀"],
    ["several of them", "\0\0␛\0", "␛␀␛␀␛␛␛␀"],
  ])("%s", (_, text, stored) => {
    expect(toSqlText(text)).toBe(stored);
    expect(fromSqlText(stored)).toBe(text);
  });

  it("has no NUL, and is read as it was", () => {
    fc.assert(
      fc.property(anyString, (text) => {
        expect(toSqlText(text)).not.toContain("\0");
        expect(fromSqlText(toSqlText(text))).toBe(text);
      }),
    );
  });

  it("keeps an escape symbol that other programs wrote", () => {
    expect(fromSqlText("fern␛pot␛")).toBe("fern␛pot␛");
  });
});
