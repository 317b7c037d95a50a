/** Quoted input in messages: no control of a terminal, no token, and a limited length. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinWords, escapeUnprintable, quoteInput, redactTokens } from "../../src/core/messages.ts";

describe("escapeUnprintable", () => {
  it.each([
    ["text is unchanged", "fern, Mönstera 🌿 ~/\\\"'<>", "fern, Mönstera 🌿 ~/\\\"'<>"],
    ["letters of any script are unchanged", "シダ папоротник سرخس", "シダ папоротник سرخس"],
    ["combining marks are unchanged", "e\u0301", "e\u0301"],
    ["NUL", "a\0b", "a\\u0000b"],
    ["line feed and carriage return", "a\r\nb", "a\\u000d\\u000ab"],
    ["tab", "a\tb", "a\\u0009b"],
    ["escape, as in terminal sequences", "\u001b[31m", "\\u001b[31m"],
    ["delete", "\u007f", "\\u007f"],
    ["a C1 control that some terminals obey", "\u009b31m", "\\u009b31m"],
    ["next line (C1)", "\u0085", "\\u0085"],
    ["line and paragraph separators", "\u2028\u2029", "\\u2028\\u2029"],
    ["spaces other than U+0020", "\u00a0\u3000", "\\u00a0\\u3000"],
    ["bidirectional override", "\u202egnp", "\\u202egnp"],
    ["bidirectional isolates", "\u2066a\u2069", "\\u2066a\\u2069"],
    ["bidirectional marks", "\u200e\u200f\u061c", "\\u200e\\u200f\\u061c"],
    ["zero-width space and joiners", "\u200b\u200c\u200d", "\\u200b\\u200c\\u200d"],
    ["a byte order mark", "\ufeff", "\\ufeff"],
    ["soft hyphen", "\u00ad", "\\u00ad"],
    ["an invisible filler", "\u3164", "\\u3164"],
    ["variation selectors", "\ufe0f\u{e0100}", "\\ufe0f\\udb40\\udd00"],
    ["tag characters", "\u{e0041}", "\\udb40\\udc41"],
    ["private use", "\ue000", "\\ue000"],
    ["a noncharacter", "\uffff", "\\uffff"],
    ["a lone high surrogate", "a\ud83cb", "a\\ud83cb"],
    ["a lone low surrogate", "\udf3f", "\\udf3f"],
  ])("%s", (_rule, text, expected) => {
    expect(escapeUnprintable(text)).toBe(expected);
  });
});

const token = `pst_${"a1B2c3D".repeat(7)}`;

describe("redactTokens", () => {
  it.each([
    ["a token", `no file ${token}.json`, "no file pst_….json"],
    ["two tokens", `${token}/${token}`, "pst_…/pst_…"],
    ["a part of a token", "pst_aB3xY", "pst_…"],
    [
      "a prefix is unchanged, because it is not secret",
      "ci (pst_aB3x) pst_aB3x… ",
      "ci (pst_aB3x) pst_aB3x… ",
    ],
    ["other text of any length is unchanged", "fern ".repeat(1000), "fern ".repeat(1000)],
  ])("%s", (_rule, text, expected) => {
    expect(redactTokens(text)).toBe(expected);
  });
});

describe("quoteInput", () => {
  it.each([
    ["40 units are kept", "x".repeat(40), "x".repeat(40)],
    ["41 units are cut", "x".repeat(41), `${"x".repeat(40)}…`],
    ["a pair of surrogates is not split", `${"x".repeat(39)}🌿`, `${"x".repeat(39)}…`],
    ["escapes do not count", "\0".repeat(40), "\\u0000".repeat(40)],
    ["a token is left out", `my ${token}!`, "my pst_…!"],
    ["two tokens are left out", `${token} ${token}`, "pst_… pst_…"],
    ["a token directly after another one is left out", token + token, "pst_…"],
    ["a token that is cut", `${"x".repeat(30)}${token}`, `${"x".repeat(30)}pst_…`],
    ["a token that is cut to its prefix", `${"x".repeat(36)}${token}`, `${"x".repeat(36)}pst_…`],
    ["a text like a token, but much longer", `pst_${"a".repeat(5000)}`, "pst_……"],
    ["a token that was cut before", "pst_aB3", "pst_…"],
  ])("%s", (_rule, text, expected) => {
    expect(quoteInput(text)).toBe(expected);
  });

  it("truncates at a given length", () => {
    expect(quoteInput("fern tree", 4)).toBe("fern…");
  });

  it("returns at most six times the length of any input, on one line", () => {
    const text = fc.string({ unit: "binary", maxLength: 500 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 100 }), (input, maxLength) => {
        const quoted = quoteInput(input, maxLength);
        expect(quoted.length).toBeLessThanOrEqual(6 * maxLength + 1);
        expect(quoted).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it("shows no part of a token at any position", () => {
    // The text around the token cannot be part of a token.
    const around = fc.string({ unit: fc.constantFrom(" ", "/", "~", "é", "\0"), maxLength: 200 });
    const secret = fc.stringMatching(/^[0-9A-Za-z]{49}$/);
    fc.assert(
      fc.property(around, secret, around, (before, hidden, after) => {
        const quoted = quoteInput(`${before}pst_${hidden}${after}`, 80);
        expect(quoted).not.toMatch(/pst_\w/);
        expect(quoted).not.toContain(hidden.slice(0, 8));
      }),
    );
  });
});

it.each([
  [["id"], "id"],
  [["id", "name"], "id and name"],
  [["id", "name", "tag"], "id, name and tag"],
])("joinWords lists %j", (words, text) => {
  expect(joinWords(words)).toBe(text);
});
