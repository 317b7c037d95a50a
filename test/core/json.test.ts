/** JSON that the reader accepts, and JSON that it rejects, with the position of the error. */
import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RequestError } from "../../src/core/errors.ts";
import {
  decodeJsonText,
  JsonNumber,
  type JsonValue,
  maxNesting,
  type ParsedJson,
  readJson,
} from "../../src/core/json.ts";
import { parseJson } from "./parse-json.ts";

const number = (text: string) => new JsonNumber(text);
const object = (...members: [string, JsonValue][]) => new Map(members);
const anArray = { is: "an array" } as const;
const anObject = { is: "an object" } as const;
const nest = (depth: number, open: string, close: string) =>
  `${open.repeat(depth)}${close.repeat(depth)}`;
const twice = (place: string) => `${place} occurs twice: remove one`;
const lone = (place: string) =>
  `${place} contains an unpaired surrogate: write the pair, or remove it`;

describe("readJson reads", () => {
  it.each<[string, string, ParsedJson["value"]]>([
    ["null", "null", { is: "null" }],
    ["true", "true", { is: "true" }],
    ["false", "false", { is: "false" }],
    ["the four kinds of white space around everything", " \t\n\r[ \t1\n,\r2 ] \n", anArray],
    [
      "white space in an object",
      ' { "a" : 1 , "b" : 2 } ',
      object(["a", number("1")], ["b", number("2")]),
    ],
    ["a byte order mark before it", "\uFEFF[]", anArray],
    ["a byte order mark in a string", '"\uFEFF"', "\uFEFF"],
    ["an empty array", "[]", anArray],
    ["an empty array with space in it", "[ ]", anArray],
    ["an empty object", "{}", object()],
    ["arrays in arrays", "[[],[[null]]]", anArray],
    [
      "members of every kind",
      '{"a":{"b":{}},"c":[[]],"d":null}',
      object(["a", anObject], ["c", anArray], ["d", { is: "null" }]),
    ],
    ["an empty member name", '{"":1}', object(["", number("1")])],
    [
      "names that objects inherit",
      '{"__proto__":1,"constructor":2}',
      object(["__proto__", number("1")], ["constructor", number("2")]),
    ],
    [
      "names that look like numbers",
      '{"2":2,"1":1}',
      object(["2", number("2")], ["1", number("1")]),
    ],
    ["the empty string", '""', ""],
    ["every short escape", String.raw`"\"\\\/\b\f\n\r\t"`, '"\\/\b\f\n\r\t'],
    ["an escape by number", String.raw`"\u0041"`, "A"],
    ["hexadecimal digits of both cases", String.raw`"\uabCD\uABcd"`, "\uABCD\uABCD"],
    ["an escaped NUL", String.raw`"\u0000"`, "\0"],
    ["an escaped pair of surrogates", String.raw`"\uD83C\uDF3F"`, "🌿"],
    ["an escape among other characters", String.raw`"a\nb\u00e9c"`, "a\nbéc"],
    ["an escaped backslash before a letter", String.raw`"\\n\\u0041"`, String.raw`\n\u0041`],
    ["an escaped name", String.raw`{"\u0069d":1}`, object(["id", number("1")])],
    [
      "the character delete, which JSON does not count as a control character",
      '"\u007F"',
      "\u007F",
    ],
    ["C1 controls and line separators", '"\u0085\u2028\u2029"', "\u0085\u2028\u2029"],
    ["noncharacters", '"\uFFFE\uFFFF"', "\uFFFE\uFFFF"],
    ["zero", "0", number("0")],
    ["a negative zero, with its sign", "-0", number("-0")],
    ["a fraction, with its zeros", "1.500", number("1.500")],
    ["an exponent, as it is written", "1E+05", number("1E+05")],
    ["a number that no double holds", "-9223372036854775808", number("-9223372036854775808")],
    ["a number beyond doubles", "1e999999999", number("1e999999999")],
    ["a number with everything", "-120.034e-56", number("-120.034e-56")],
  ])("%s", (_rule, text, value) => {
    expect(parseJson(text)).toEqual({ value, problems: [] });
  });

  it("a number of a million digits, a string of a million escapes and a million values", () => {
    const digits = "1".repeat(1_000_000);
    expect(parseJson(digits).value).toEqual(number(digits));
    expect(parseJson(`"${"\\n".repeat(1_000_000)}"`).value).toBe("\n".repeat(1_000_000));
    expect(parseJson(`[${"0,".repeat(1_000_000)}0]`).value).toEqual(anArray);
  });
});

describe("readJson rejects", () => {
  const value = "a value";
  const end = "the end";
  const endOfText = "the end of the text";
  const quote = "a closing quotation mark";
  const control = "an escape such as \\n";
  const escape = 'an escape (one of "\\/bfnrt, or u and four hexadecimal digits)';
  const name = "a member name in quotes";

  it.each<[string, string, number, string, string]>([
    ["white space alone", " \n", 2, end, value],
    ["a second value", "1 2", 2, '"2"', endOfText],
    ["a bracket too many", "{}}", 2, '"}"', endOfText],
    ["a second byte order mark", "\uFEFF\uFEFF1", 3, '"\\ufeff"', value],
    ["a byte order mark at the end", "1\uFEFF", 1, '"\\ufeff"', endOfText],
    ["a no-break space", "\u00A01", 0, '"\\u00a0"', value],
    ["a form feed", "\f1", 0, '"\\u000c"', value],
    ["a vertical tab", "[1\v]", 2, '"\\u000b"', '"," or "]"'],
    ["a line separator", "1\u2028", 1, '"\\u2028"', endOfText],
    ["a NUL at the end", "1\0", 1, '"\\u0000"', endOfText],
    ["a literal in upper case", "True", 0, '"T"', value],
    ["half a literal", "nul", 0, '"n"', value],
    ["a literal that is too long", "nulll", 4, '"l"', endOfText],
    ["undefined", "undefined", 0, '"u"', value],
    ["a comment", "/**/1", 0, '"/"', value],
    ["single quotes", "'a'", 0, '"\'"', value],
    ["NaN", "NaN", 0, '"N"', value],
    ["infinity", "-Infinity", 0, '"-"', value],
    ["a plus", "+1", 0, '"+"', value],
    ["a sign alone", "-", 0, '"-"', value],
    ["a sign twice", "--1", 0, '"-"', value],
    ["a leading zero", "01", 1, '"1"', endOfText],
    ["a leading zero after a sign", "-01", 2, '"1"', endOfText],
    ["no digit before the point", ".5", 0, '"."', value],
    ["no digit after the point", "1.", 1, '"."', endOfText],
    ["an exponent after a point", "1.e1", 1, '"."', endOfText],
    ["no digit in the exponent", "1e", 1, '"e"', endOfText],
    ["no digit after the exponent's sign", "[1e+]", 2, '"e"', '"," or "]"'],
    ["a hexadecimal number", "0x1", 1, '"x"', endOfText],
    ["a digit of another script", "\u0661", 0, '"\u0661"', value],
    ["a string without an end", '"a', 2, end, quote],
    ["a string that an escaped quote does not end", String.raw`"\"`, 3, end, quote],
    ["a string that ends in a backslash", '"a\\', 3, end, escape],
    ["a NUL in a string", '"a\0"', 2, '"\\u0000"', control],
    ["a line feed in a string", '"a\n"', 2, '"\\u000a"', control],
    ["a tab in a string", '"\t"', 1, '"\\u0009"', control],
    ["the last control character in a string", '"\u001F"', 1, '"\\u001f"', control],
    ["a control character after an escape", '"\\n\n"', 3, '"\\u000a"', control],
    ["a control character in a name", '{"\n":1}', 2, '"\\u000a"', control],
    ["an unknown escape", String.raw`"\x41"`, 2, '"x"', escape],
    ["an escape in upper case", String.raw`"\N"`, 2, '"N"', escape],
    ["an escaped line feed", '"\\\n"', 2, '"\\u000a"', escape],
    ["an escape of three digits", String.raw`"\u004"`, 2, '"u"', escape],
    ["an escape with a letter that is not a digit", String.raw`"\u00g0"`, 2, '"u"', escape],
    ["an escape with a sign", String.raw`"\u+041"`, 2, '"u"', escape],
    ["an array without an end", "[1", 2, end, '"," or "]"'],
    ["an array with no item before the comma", "[,1]", 1, '","', value],
    ["an array with no item after the comma", "[1,]", 3, '"]"', value],
    ["an array without a comma", "[1 2]", 3, '"2"', '"," or "]"'],
    ["an array with a colon", "[1:2]", 2, '":"', '"," or "]"'],
    ["an array that ends as an object", "[1}", 2, '"}"', '"," or "]"'],
    ["an object without an end", '{"a":1', 6, end, '"," or "}"'],
    ["an object that ends after the brace", "{", 1, end, name],
    ["an object without a colon", '{"a" 1}', 5, '"1"', '":"'],
    ["an object without a value", '{"a":}', 5, '"}"', value],
    ["an object with a comma at the end", '{"a":1,}', 7, '"}"', name],
    ["an object with a comma at the beginning", "{,}", 1, '","', name],
    ["a name without quotes", "{a:1}", 1, '"a"', name],
    ["members without a comma", '{"a":1"b":2}', 6, "a quotation mark", '"," or "}"'],
    ["a name that is a number", "{1:1}", 1, '"1"', name],
    ["an object that ends as an array", '{"a":1]', 6, '"]"', '"," or "}"'],
    ["a byte after characters of two bytes", '"éé" x', 7, '"x"', endOfText],
    ["a byte after characters of three and four bytes", '{"€":"🌿"x', 13, '"x"', '"," or "}"'],
    ["a byte after a byte order mark", "\uFEFF[x", 4, '"x"', value],
    ["a character of four bytes", "[🌿]", 1, '"🌿"', value],
    ["a mark that would reverse the message", "\u202E", 0, '"\\u202e"', value],
  ])("%s", (_rule, text, byte, found, expected) => {
    expect(readJson(text, () => true)).toMatchObject({
      kind: "notJson",
      byte,
      expected,
      message: `invalid JSON: expected ${expected} but found ${found} at byte ${byte}`,
    });
  });
});

describe("the nesting limit of readJson", () => {
  it("does not delay the report of an error in many containers", () => {
    const encode = vi.spyOn(TextEncoder.prototype, "encode");
    onTestFinished(() => encode.mockRestore());
    expect(readJson(`${'["é",'.repeat(maxNesting)}x`, () => true)).toBeInstanceOf(RequestError);
    expect(encode).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["arrays", nest(maxNesting, "[", "]")],
    ["objects", `${'{"a":'.repeat(maxNesting)}1${"}".repeat(maxNesting)}`],
    ["both in turns", nest(maxNesting / 2, '[{"a":', "}]").replace(":}", ":0}")],
    ["arrays side by side", `[${"[],".repeat(1000)}[]]`],
    ["brackets in a string", `"${"[".repeat(1000)}"`],
  ])("accepts 64 levels: %s", (_rule, text) => {
    expect(parseJson(text).problems).toEqual([]);
  });

  it.each([
    ["65 arrays", nest(maxNesting + 1, "[", "]"), 64],
    ["65 objects", '{"a":'.repeat(maxNesting + 1), 320],
    ["65 of both", `${'[{"a":'.repeat(maxNesting / 2)}[`, 192],
    ["64 behind a name of two bytes", `{"é":${"[".repeat(maxNesting)}`, 69],
    ["a million brackets", "[".repeat(1_000_000), 64],
    ["a million objects", '{"":'.repeat(1_000_000), 256],
  ])("rejects 65 levels: %s", (_rule, text, byte) => {
    expect(readJson(text, () => true)).toMatchObject({
      kind: "tooDeep",
      byte,
      message: `JSON nested too deeply at byte ${byte}: use at most 64 levels`,
    });
  });
});

describe("readJson reports, and continues after", () => {
  it.each<[string, string, string[]]>([
    ["a name that occurs twice", '{"a":1,"a":1}', [twice("a")]],
    ["a name that occurs three times, once", '{"a":1,"a":2,"a":3}', [twice("a")]],
    ["a name that is repeated with an escape", String.raw`{"a":1,"\u0061":2}`, [twice("a")]],
    ["__proto__", '{"__proto__":1,"__proto__":2}', [twice("__proto__")]],
    ["no name in an object below", '{"a":[0,{"b":1,"b":2}]}', []],
    ["no name in an array", '[{"a":1,"a":1}]', []],
    ["no name that an enclosing object also has", '{"a":{"a":1}}', []],
    ["no name in another case", '{"a":1,"A":2}', []],
    ["no name in another normal form", '{"\u00E9":1,"e\u0301":2}', []],
    ["a lone high surrogate", String.raw`{"a":"\uD800"}`, [lone("a")]],
    ["a lone low surrogate", String.raw`{"a":"\uDFFF"}`, [lone("a")]],
    ["a pair in the wrong order", String.raw`{"a":"\uDF3F\uD83C"}`, [lone("a")]],
    ["a high surrogate before another character", String.raw`{"a":"\uD83Cx"}`, [lone("a")]],
    ["a lone surrogate that is not escaped", '{"a":"\uD800"}', [lone("a")]],
    ["no lone surrogate below", String.raw`{"a":["\uD800",{"\uD800":1}]}`, []],
    ["both, in the order of the text", String.raw`{"a":"\uD800","a":1}`, [lone("a"), twice("a")]],
  ])("%s", (_rule, text, messages) => {
    expect(parseJson(text).problems.map(({ message }) => message)).toEqual(messages);
  });

  it("nothing in members that are not kept", () => {
    const text = String.raw`{"a":1,"b":"\uD800","b":{},"\uD800":[1],"\uD800":2}`;
    expect(readJson(text, (name) => name === "a")).toEqual({
      value: object(["a", number("1")]),
      problems: [],
    });
  });

  it("the kind of each problem", () => {
    const { problems } = parseJson(String.raw`{"a":"\uD800","a":1}`);
    expect(problems.map(({ kind }) => kind)).toEqual(["loneSurrogate", "duplicateMember"]);
  });

  it("a repeated name, whose first value it returns", () => {
    expect(parseJson('{"a":1,"b":2,"a":3}').value).toEqual(
      object(["a", number("1")], ["b", number("2")]),
    );
  });
});

describe("decodeJsonText", () => {
  it.each([
    ["no byte", []],
    ["a byte order mark alone", [0xef, 0xbb, 0xbf]],
  ])("rejects an empty body: %s", (_rule, bytes) => {
    expect(decodeJsonText(Uint8Array.from(bytes))).toMatchObject({
      kind: "emptyBody",
      message: 'the body is empty: send a plant such as {"id":1,"name":"fern"}',
    });
  });

  it.each([
    ["a byte that never occurs", [0x22, 0xff, 0x22], 1],
    ["a continuation without a beginning", [0x22, 0x80, 0x22], 1],
    ["Latin-1", [0x22, 0x66, 0xe9, 0x22], 2],
    ["a character cut off by another", [0x22, 0xe2, 0x82, 0x22], 1],
    ["a character cut off by the end", [0x22, 0xf0, 0x9f, 0x8c], 1],
    ["U+FFFD cut off by the end after one byte", [0x22, 0xef], 1],
    ["U+FFFD cut off by the end after two bytes", [0x22, 0xef, 0xbf], 1],
    ["U+FFFD cut off by another character", [0xef, 0xbf, 0x22], 0],
    ["a character that is written too long", [0xc0, 0xaf], 0],
    ["a surrogate", [0xed, 0xa0, 0x80], 0],
    ["a character beyond U+10FFFF", [0xf4, 0x90, 0x80, 0x80], 0],
    ["UTF-16", [0xff, 0xfe, 0x22, 0x00], 0],
    ["a byte after characters of several bytes", [0xc3, 0xa9, 0xef, 0xbf, 0xbd, 0xff], 5],
    ["a byte after a byte order mark", [0xef, 0xbb, 0xbf, 0xff], 3],
  ])("reports the byte at which a body is not UTF-8: %s", (_rule, bytes, byte) => {
    expect(decodeJsonText(Uint8Array.from(bytes))).toMatchObject({
      kind: "notUtf8",
      message: `invalid UTF-8 at byte ${byte}: encode the text in UTF-8`,
    });
  });

  it("rejects any bytes that are not UTF-8, at the end of the longest valid text", () => {
    const awkward = fc.constantFrom(
      0x22,
      0x80,
      0xbb,
      0xbd,
      0xbf,
      0xc3,
      0xe2,
      0xed,
      0xef,
      0xf0,
      0xf4,
    );
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(
        fc.oneof(
          bytes,
          fc.array(awkward, { minLength: 1 }).map((b) => Uint8Array.from(b)),
        ),
        (body) => {
          fc.pre(!isUtf8(body));
          const lengths = Array.from(body, (_, length) => length);
          const byte = lengths.findLast((length) => isUtf8(body.subarray(0, length)));
          const { message } = decodeJsonText(body) as RequestError;
          expect(message).toContain(`at byte ${byte}:`);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("returns every character of a text, including a byte order mark", () => {
    const text = fc.string({ unit: "binary", minLength: 2 });
    fc.assert(
      fc.property(text, (characters) => {
        expect(decodeJsonText(new TextEncoder().encode(characters))).toBe(characters);
      }),
    );
  });
});
