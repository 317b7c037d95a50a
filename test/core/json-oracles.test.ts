/** Compares the JSON reader with JSON.parse and lossless-json. It differs only where it is stricter on purpose. */
import fc from "fast-check";
import { parse as parseLossless } from "lossless-json";
import { describe, expect, it } from "vitest";
import { RequestError } from "../../src/core/errors.ts";
import { type JsonMembers, JsonNumber, type ParsedJson } from "../../src/core/json.ts";
import { parseJson } from "./parse-json.ts";

type JsonData = null | boolean | number | string | JsonData[] | { [name: string]: JsonData };

const utf16 = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom("a", '"', "\\", "/", "\n", "\uD83C", "\uDF3F", "🌿"),
  ),
  maxLength: 8,
});
const names = fc.oneof(utf16, fc.constantFrom("", "__proto__", "constructor", "0", "id"));

/** Any value, with any string that JSON.parse can return, including lone surrogates. */
const { data } = fc.letrec<{ data: JsonData }>((tie) => ({
  data: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false),
    fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()),
    utf16,
    fc.array(tie("data"), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie("data")), { maxLength: 4 }).map(Object.fromEntries),
  ),
}));

describe("a text that is well-formed", () => {
  it("has the same value as with JSON.parse, with any white space and escapes", () => {
    const writings = data.chain((value) => fc.tuple(fc.constant(value), writingOf(value)));
    fc.assert(
      fc.property(writings, ([value, text]) => {
        expect(toOutline(parseJson(text).value)).toEqual(outlineOf(value));
      }),
      { numRuns: 1000 },
    );
  });

  it("has a reported lone surrogate exactly if a string of the outermost object contains one", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("a", "b"), data), (value) => {
        const { problems } = parseJson(JSON.stringify(value));
        const lone = Object.values(value).filter(
          (each) => typeof each === "string" && !each.isWellFormed(),
        );
        expect(problems).toHaveLength(lone.length);
      }),
      { numRuns: 1000 },
    );
  });

  it("has a report for each name that is repeated", () => {
    const few = fc.array(fc.constantFrom("a", "b", "", "__proto__", "é"), { maxLength: 20 });
    fc.assert(
      fc.property(few, (members) => {
        const text = `{${members.map((name) => `${JSON.stringify(name)}:0`).join(",")}}`;
        const repeated = new Set(members.filter((name, index) => members.indexOf(name) < index));
        expect(parseJson(text).problems).toHaveLength(repeated.size);
      }),
    );
  });
});

describe("any text", () => {
  const fragments = fc.constantFrom(
    ...'{}[],:"\\ \n\t\f\u00A0\u0000-+.01eEa',
    "\\u00",
    '"a"',
    "true",
    "false",
    "null",
    "\uD83C",
    "🌿",
  );
  const soup = fc.array(fragments, { maxLength: 12 }).map((pieces) => pieces.join(""));
  const broken = fc
    .tuple(
      data.chain(writingOf),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fragments), { maxLength: 3 }),
    )
    .map(([text, changes]) => changes.reduce(change, text));

  it.each([
    ["made of the pieces of JSON", soup],
    ["made of JSON by a few changes", broken],
    ["made of the characters of numbers", fc.stringMatching(/^[-+.eE019]{1,8}$/)],
    ["made of escapes", fc.stringMatching(/^"(\\[\\u"/bnxN0]|[0-9a-fA-FgG"]){0,8}"$/)],
  ])("is accepted exactly if JSON.parse accepts it, with the same value: %s", (_rule, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(readingOf(text)).toEqual(referenceOf(text));
      }),
      { numRuns: 3000 },
    );
  });
});

describe("a number", () => {
  const numbers = fc.stringMatching(/^-?(0|[1-9]\d{0,40})(\.\d{1,40})?([eE][+-]?\d{1,10})?$/);

  it("keeps its text, like with lossless-json", () => {
    fc.assert(
      fc.property(fc.array(numbers), (texts) => {
        const text = `{${texts.map((digits, index) => `"n${index}": ${digits} `).join(",")}}`;
        const reference = parseLossless(text, undefined, { parseNumber: (digits) => digits });
        expect(Object.values(reference as object)).toEqual(texts);
        expect([...(parseJson(text).value as JsonMembers).values()]).toEqual(
          texts.map((digits) => new JsonNumber(digits)),
        );
      }),
      { numRuns: 1000 },
    );
  });
});

/** Returns texts of a value that differ in white space and in the escaped characters. */
function writingOf(value: JsonData): fc.Arbitrary<string> {
  const written = (): fc.Arbitrary<string> => {
    if (typeof value === "string") return stringWritingOf(value);
    if (Array.isArray(value)) return listWritingOf("[", value.map(writingOf), "]");
    if (typeof value !== "object" || value === null) return fc.constant(JSON.stringify(value));
    const members = Object.entries(value).map(([name, member]) =>
      joined(spaced(stringWritingOf(name)), fc.constant(":"), writingOf(member)),
    );
    return listWritingOf("{", members, "}");
  };
  return spaced(written());
}

function listWritingOf(open: string, items: fc.Arbitrary<string>[], close: string) {
  const list = fc.tuple(...items).map((texts) => texts.join(","));
  return joined(fc.constant(open), spaced(list), fc.constant(close));
}

function stringWritingOf(text: string): fc.Arbitrary<string> {
  const characters = Array.from(text, (character) => {
    const units = Array.from({ length: character.length }, (_, index) =>
      character.charCodeAt(index).toString(16).padStart(4, "0"),
    );
    return fc.constantFrom(
      JSON.stringify(character).slice(1, -1),
      units.map((digits) => `\\u${digits}`).join(""),
      units.map((digits) => `\\u${digits.toUpperCase()}`).join(""),
      character === "/" ? "\\/" : JSON.stringify(character).slice(1, -1),
    );
  });
  return fc.tuple(...characters).map((pieces) => `"${pieces.join("")}"`);
}

function spaced(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const space = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r"), maxLength: 2 });
  return joined(space, text, space);
}

function joined(...pieces: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...pieces).map((texts) => texts.join(""));
}

/** Replaces `length` characters at `position` with `piece`. */
function change(text: string, [position, length, piece]: [number, number, string]): string {
  const at = position % (text.length + 1);
  return text.slice(0, at) + piece + text.slice(at + length);
}

const refused = "refused";

function readingOf(text: string): unknown {
  try {
    return toOutline(parseJson(text).value);
  } catch (error) {
    if (error instanceof RequestError && error.kind === "notJson") return refused;
    throw error;
  }
}

function referenceOf(text: string): unknown {
  try {
    return outlineOf(JSON.parse(text) as JsonData);
  } catch {
    return refused;
  }
}

/** Numbers are rounded, as by JSON.parse. */
function toOutline(value: ParsedJson["value"]): unknown {
  if (value instanceof JsonNumber) return kindOf(Number(value.text));
  if (typeof value === "string" || "is" in value) return value;
  return new Map([...value].map(([name, member]) => [name, toOutline(member)]));
}

/** Returns what the reader keeps of a value. */
function outlineOf(value: JsonData): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return kindOf(value);
  return new Map(Object.entries(value).map(([name, member]) => [name, kindOf(member)]));
}

function kindOf(value: JsonData): unknown {
  if (typeof value === "string") return value;
  // JSON.stringify writes -0 as 0.
  if (typeof value === "number") return value + 0;
  if (Array.isArray(value)) return { is: "an array" };
  return { is: value !== null && typeof value === "object" ? "an object" : String(value) };
}
