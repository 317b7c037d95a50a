/** Parses bodies as plants, and rejects invalid bodies with the right errors. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ErrorKind,
  errorTable,
  maxMessageBytes,
  RequestError,
} from "../../src/core/errors.ts";
import {
  int64Max,
  int64Min,
  type NewPlant,
  toNewPlantJson,
  toPlantJson,
} from "../../src/core/plant.ts";
import { JsonNumber, type JsonValue } from "../../src/core/json.ts";
import {
  parseErrorBody,
  parsePlant,
  readNewPlant,
  validateNewPlant,
} from "../../src/core/read-plant.ts";
import { anyPlant } from "../helpers/any-plant.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const object = (...members: [string, JsonValue][]) => new Map(members);

describe("readNewPlant reads", () => {
  const fern = { id: 1n, name: "fern" };
  const potted = { id: 1n, name: "fern", tag: "pot" };

  it.each<[string, string, NewPlant]>([
    ["all three members", '{"id":1,"name":"fern","tag":"pot"}', potted],
    ["no tag", '{"id":1,"name":"fern"}', fern],
    ["any order", '{"tag":"pot","name":"fern","id":1}', potted],
    ["white space", ' \t\r\n{ "id" : 1 , "name" : "fern" }\n', fern],
    ["a byte order mark", '\uFEFF{"id":1,"name":"fern"}', fern],
    ["escaped member names", String.raw`{"\u0069\u0064":1,"nam\u0065":"fern"}`, fern],
    ["past unknown members", '{"id":1,"name":"fern","colour":["green"]}', fern],
    ["past members in other letters", '{"id":1,"ID":2,"name":"fern","Tag":3}', fern],
    ["past __proto__", '{"id":1,"name":"fern","__proto__":{"tag":"pot"}}', fern],
    ["past constructor", '{"constructor":null,"id":1,"name":"fern"}', fern],
    [
      "past unknown members that occur twice",
      '{"id":1,"name":"fern","x":{"y":1,"y":2},"x":0}',
      fern,
    ],
    ["past unknown lone surrogates", String.raw`{"id":1,"name":"fern","\ud83c":["\udf3f"]}`, fern],
    ["past plants further down", '{"id":1,"name":"fern","next":{"id":2,"name":"moss"}}', fern],
  ])("%s", (_rule, body, plant) => {
    expect(readNewPlant(bytesOf(body))).toEqual(plant);
  });

  it("every text in the usual form like the same text after white space", () => {
    const outcomeOf = (text: string): unknown => {
      const plant = readNewPlant(bytesOf(text));
      return plant instanceof RequestError ? plant.error : plant;
    };
    const part = fc.oneof(
      fc.constantFrom("{", "}", '"', ":", ",", " ", '"id"', '"name"', '"tag"', "\\", "-", "0", "1"),
      fc.constantFrom('{"id":1,"name":"a', '","tag":"b', '"}', '{ "id": ', "9".repeat(18)),
      fc.constantFrom("\u0000", "\u001f", "\u007f", "\u2028", "é", "🌿", "\uFEFF", "\n", "\r"),
      fc.bigInt({ min: 2n * int64Min, max: 2n * int64Max }).map(String),
    );
    const plantLike = fc
      .tuple(part, part, part, part)
      .map(([id, name, tag, end]) => `{"id":${id},"name":"${name}","tag":"${tag}"}${end}`);
    const texts = fc.oneof(
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
      plantLike,
      plantLike.map((text) => text.replaceAll(/[:,]/g, "$& ")),
      anyPlant.map((plant) => toNewPlantJson(plant)),
    );
    // A byte order mark is skipped only at the beginning.
    const isPlain = (text: string) => text !== "" && !text.startsWith("\uFEFF");
    fc.assert(
      fc.property(texts.filter(isPlain), (text) => {
        expect(outcomeOf(text)).toEqual(outcomeOf(`\n${text}`));
      }),
      { numRuns: 5000 },
    );
  });

  it("the output of toNewPlantJson for every id and every string", () => {
    fc.assert(
      fc.property(anyPlant, (plant) => {
        expect(readNewPlant(bytesOf(toNewPlantJson(plant)))).toEqual(plant);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("readNewPlant rejects", () => {
  const needsId = "an integer from -9223372036854775808 to 9223372036854775807";
  const needsString = "a string";
  const needsTag = "must be a string or be left out";
  const noId = `id is missing: add ${needsId}`;
  const noName = `name is missing: add ${needsString}`;
  const tagIsNull = `tag ${needsTag} (got null)`;
  const empty = 'the body is empty: send a plant such as {"id":1,"name":"fern"}';
  const expected = "invalid JSON: expected";
  const tooDeep = "JSON nested too deeply at byte";
  const twice = "occurs twice: remove one";
  const lone = "contains an unpaired surrogate: write the pair, or remove it";

  it.each<[string, string, ErrorKind, ...string[]]>([
    ["an empty body", "", "emptyBody", empty],
    ["a byte order mark alone", "\uFEFF", "emptyBody", empty],
    ["a form", "id=1", "notJson", `${expected} a value but found "i" at byte 0`],
    ["white space alone", " \n", "notJson", `${expected} a value but found the end at byte 2`],
    [
      "a plant and more",
      '{"id":1}x',
      "notJson",
      `${expected} the end of the text but found "x" at byte 8`,
    ],
    ["65 levels", "[".repeat(65), "tooDeep", `${tooDeep} 64: use at most 64 levels`],
    [
      "65 levels of an unknown member",
      `{"x":${"[".repeat(64)}`,
      "tooDeep",
      `${tooDeep} 68: use at most 64 levels`,
    ],

    ["no id", '{"name":"fern"}', "idMissing", noId],
    ["an id in other letters", '{"ID":1,"name":"fern"}', "idMissing", noId],
    ["no name", '{"id":1}', "nameMissing", noName],
    ["neither", "{}", "idMissing", noId, noName],
    ["both within __proto__", '{"__proto__":{"id":1,"name":"fern"}}', "idMissing", noId, noName],
    ["no id before a wrong tag", '{"tag":null,"name":""}', "idMissing", noId, tagIsNull],
    ["no name before a wrong tag", '{"tag":null,"id":1}', "nameMissing", noName, tagIsNull],
    [
      "three wrong members, named in the order id, name, tag",
      '{"tag":null,"name":2,"id":"3"}',
      "idNotInteger",
      `id must be ${needsId} (got a string)`,
      `name must be ${needsString} (got 2)`,
      tagIsNull,
    ],

    ["an id twice", '{"id":1,"name":"fern","id":1}', "duplicateMember", `id ${twice}`],
    [
      "a name once escaped",
      String.raw`{"id":1,"name":"","nam\u0065":""}`,
      "duplicateMember",
      `name ${twice}`,
    ],
    ["a lone surrogate", String.raw`{"id":1,"name":"\ud83c"}`, "loneSurrogate", `name ${lone}`],
    [
      "a broken rule of JSON first",
      '{"id":1,"id":2,"tag":null}',
      "duplicateMember",
      `id ${twice}`,
      noName,
      tagIsNull,
    ],
  ])("%s", (_rule, body, kind, ...messages) => {
    expect(readNewPlant(bytesOf(body))).toMatchObject({
      kind,
      error: errorTable[kind].error,
      message: messages.join("; "),
    });
  });

  it.each([
    ["null", "null", "null"],
    ["true", "true", "true"],
    ["a number, as it is written", "1.50", "1.50"],
    ["a string, which could be a secret", '"fern"', "a string"],
    ["an array", '[{"id":1,"name":"fern"}]', "an array"],
  ])("a body that is not an object: %s", (_rule, body, shown) => {
    expect(readNewPlant(bytesOf(body))).toMatchObject({
      error: 42200,
      message: `expected an object such as {"id":1,"name":"fern"} but found ${shown}`,
    });
  });

  it.each([
    ["null", "null", 42202, "null"],
    ["a word", "true", 42202, "true"],
    ["a number in quotes", '"1"', 42202, "a string"],
    ["an array", "[1]", 42202, "an array"],
    ["an object", '{"id":1}', 42202, "an object"],
    ["a fraction", "1.5", 42202, "1.5"],
    ["one above int64", "9223372036854775808", 42203, "9223372036854775808"],
    ["one below int64", "-9223372036854775809", 42203, "-9223372036854775809"],
    ["beyond doubles", "1e999999999", 42203, "1e999999999"],
    ["many digits, which are cut", "9".repeat(500), 42203, `${"9".repeat(40)}…`],
  ])("an id that is not an int64: %s", (_rule, id, error, shown) => {
    const body = bytesOf(`{"id":${id},"name":"fern"}`);
    expect(readNewPlant(body)).toMatchObject({
      error,
      message: `id must be ${needsId} (got ${shown})`,
    });
  });

  it.each([
    ["null", "null", "null"],
    ["a word", "false", "false"],
    ["a number", "7", "7"],
    ["an array", '["fern"]', "an array"],
    ["an object", "{}", "an object"],
  ])("a name or a tag that is not a string: %s", (_rule, value, shown) => {
    const name = bytesOf(`{"id":1,"name":${value}}`);
    expect(readNewPlant(name)).toMatchObject({
      error: 42205,
      message: `name must be ${needsString} (got ${shown})`,
    });
    const tag = bytesOf(`{"id":1,"name":"fern","tag":${value}}`);
    expect(readNewPlant(tag)).toMatchObject({
      error: 42206,
      message: `tag ${needsTag} (got ${shown})`,
    });
  });

  it("bytes that are not UTF-8, and reports the first of them", () => {
    const body = Uint8Array.from([...bytesOf('{"id":1,"name":"'), 0xe9, ...bytesOf('"}')]);
    expect(readNewPlant(body)).toMatchObject({
      error: 40002,
      message: "invalid UTF-8 at byte 16: encode the text in UTF-8",
    });
  });

  it("a body that is not UTF-8, and accepts the next one", () => {
    expect(readNewPlant(Uint8Array.from([0x22, 0xf0, 0x9f]))).toBeInstanceOf(RequestError);
    expect(readNewPlant(bytesOf('{"id":1,"name":"fern"}'))).toEqual({ id: 1n, name: "fern" });
  });

  it("any invalid body with an error number of bodies and one line of at most 1000 bytes", () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.json({ stringUnit: "binary" }).map(bytesOf),
      fc
        .dictionary(fc.constantFrom("id", "name", "tag", "\u202E"), fc.jsonValue())
        .map((members) => bytesOf(JSON.stringify(members))),
    );
    fc.assert(
      fc.property(body, (bytes) => {
        const read = readNewPlant(bytes);
        // It is a plant, by chance.
        if (!(read instanceof RequestError)) return;
        const { error, message } = read;
        expect([400, 422]).toContain(Math.floor(error / 100));
        expect(message).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]+$/u);
        expect(bytesOf(message).length).toBeLessThanOrEqual(maxMessageBytes);
      }),
      { numRuns: 1000 },
    );
  });

  it("a token in the wrong place without repeating it", () => {
    const token = `pst_${"aB3".repeat(16)}`;
    for (const body of [
      `{"id":"${token}","name":1}`,
      `{"${token}":1,"${token}":2}`,
      `"${token}"`,
      token,
    ]) {
      const read = readNewPlant(bytesOf(body));
      expect(read).toMatchObject({ message: expect.not.stringContaining("aB3") });
    }
  });
});

describe("validateNewPlant", () => {
  it("accepts a plant that was not read from a body", () => {
    const value = object(["id", new JsonNumber("7")], ["name", "fern"]);
    expect(validateNewPlant(value)).toEqual({ id: 7n, name: "fern" });
  });

  it("names a member with the caller's label", () => {
    const value = object(["id", "seven"], ["tag", "pot"]);
    const message = /^--id must be .* \(got a string\); --name is missing: /;
    expect(validateNewPlant(value, [], (member) => `--${member}`)).toMatchObject({
      message: expect.stringMatching(message),
    });
  });

  it("rejects a plant for a problem that was found earlier", () => {
    const value = object(["id", new JsonNumber("7")], ["name", "fern"]);
    const found = [{ kind: "duplicateMember", message: "a occurs twice" }] as const;
    expect(validateNewPlant(value, found)).toMatchObject({
      kind: "duplicateMember",
      message: "a occurs twice",
    });
  });
});

describe("toPlantJson and toNewPlantJson", () => {
  it.each<[string, NewPlant, string]>([
    ["all members", { id: 1n, name: "a", tag: "b" }, '"name":"a","tag":"b"'],
    ["no tag", { id: 1n, name: "a" }, '"name":"a"'],
    ["an undefined tag", { id: 1n, name: "a", tag: undefined }, '"name":"a"'],
    ["empty strings", { id: 0n, name: "", tag: "" }, '"name":"","tag":""'],
    ["all digits", { id: int64Min, name: "" }, '"name":""'],
    ["escapes", { id: 1n, name: '"\\\0' }, String.raw`"name":"\"\\\u0000"`],
  ])("write %s, without the id and with it", (_rule, plant, members) => {
    expect(toPlantJson(plant)).toBe(`{${members}}`);
    expect(toNewPlantJson(plant)).toBe(`{"id":${plant.id},${members}}`);
  });
});

describe("parsePlant", () => {
  it.each([
    ["a name", '{"name":"fern"}', { name: "fern" }],
    ["a name and a tag", '{"name":"fern","tag":"pot"}', { name: "fern", tag: "pot" }],
    ["empty strings", '{"name":"","tag":""}', { name: "", tag: "" }],
    ["no member beyond a plant's", '{"id":1,"name":"fern","colour":"green"}', { name: "fern" }],
    ["a byte order mark", '\uFEFF{"name":"fern"}', { name: "fern" }],
  ])("reads %s", (_rule, body, plant) => {
    expect(parsePlant(bytesOf(body))).toEqual(plant);
  });

  it("reads the output of toPlantJson for every string", () => {
    fc.assert(
      fc.property(anyPlant, (plant) => {
        const { id: _, ...expected } = plant;
        expect(parsePlant(bytesOf(toPlantJson(plant)))).toEqual(expected);
      }),
    );
  });

  it.each([
    ["an empty body", ""],
    ["a page", "<!doctype html>"],
    ["an array", '[{"name":"fern"}]'],
    ["null", "null"],
    ["no name", '{"tag":"pot"}'],
    ["a name that __proto__ would give", '{"__proto__":{"name":"fern"}}'],
    ["a name that is a number", '{"name":1}'],
    ["a tag of null", '{"name":"fern","tag":null}'],
    ["an Error", '{"error":40900,"message":"no"}'],
    ["a deep body", "[".repeat(100_000)],
  ])("finds no Plant in %s", (_rule, body) => {
    expect(parsePlant(bytesOf(body))).toBeUndefined();
  });

  it("finds no Plant in bytes that are not UTF-8", () => {
    expect(parsePlant(Uint8Array.of(0xff))).toBeUndefined();
  });
});

describe("parseErrorBody", () => {
  it.each([
    ["of this service", "40900", 40900],
    ["of another service", "-1", -1],
    ["with a fraction of zero", "40900.0", 40900],
    ["with an exponent", "409e2", 40900],
    ["at the end of int32", "2147483647", 2147483647],
    ["at the beginning of int32", "-2147483648", -2147483648],
  ])("reads a number %s", (_rule, text, error) => {
    const body = bytesOf(`{"error":${text},"message":"no"}`);
    expect(parseErrorBody(body)).toEqual({ error, message: "no" });
  });

  it("reads only the members of an Error", () => {
    const body = bytesOf('{"error":1,"message":"","details":[]}');
    expect(parseErrorBody(body)).toEqual({ error: 1, message: "" });
  });

  it.each([
    ["an empty body", ""],
    ["a page", "<!doctype html>"],
    ["an array", "[]"],
    ["no error", '{"message":"no"}'],
    ["an error in quotes", '{"error":"40900","message":"no"}'],
    ["an error of null", '{"error":null,"message":"no"}'],
    ["an error with a fraction", '{"error":1.5,"message":"no"}'],
    ["an error above int32", '{"error":2147483648,"message":"no"}'],
    ["an error below int32", '{"error":-2147483649,"message":"no"}'],
    ["an error beyond doubles", '{"error":1e999,"message":"no"}'],
    ["no message", '{"error":40900}'],
    ["a message of null", '{"error":40900,"message":null}'],
    ["a plant", '{"name":"fern"}'],
  ])("finds no Error in %s", (_rule, body) => {
    expect(parseErrorBody(bytesOf(body))).toBeUndefined();
  });
});
