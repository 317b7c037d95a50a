/** PostgreSQL's text holds every string, and ordinary ones as they are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromSqlText, toSqlText } from "../../../src/store/postgres/text.ts";

/** Mostly of the characters that are changed, and of those that they are changed to. */
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
    ["what NUL becomes", "␛␀", "␛␛␀"],
    ["several of them", "\0\0␛\0", "␛␀␛␀␛␛␛␀"],
  ])("%s", (_, text, stored) => {
    expect(toSqlText(text)).toBe(stored);
    expect(fromSqlText(stored)).toBe(text);
  });

  it("has no NUL, and comes back as it was", () => {
    fc.assert(
      fc.property(anyString, (text) => {
        expect(toSqlText(text)).not.toContain("\0");
        expect(fromSqlText(toSqlText(text))).toBe(text);
      }),
    );
  });

  it("keeps an escape symbol that others wrote without a meaning", () => {
    expect(fromSqlText("fern␛pot␛")).toBe("fern␛pot␛");
  });
});
