/** The table of error numbers agrees with the contract, and several problems become one message. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorTable, maxMessageBytes, RequestError } from "../../src/core/errors.ts";

/** Repeats "Status and error numbers" of contract.md: numbers are never reused or changed. */
const contract = {
  malformedHttp: 40000,
  notJson: 40001,
  notUtf8: 40002,
  emptyBody: 40003,
  tooDeep: 40004,
  duplicateMember: 40005,
  loneSurrogate: 40006,
  noCredential: 40100,
  malformedCredential: 40101,
  unknownToken: 40102,
  expiredToken: 40103,
  forbidden: 40300,
  noSuchPath: 40400,
  noSuchPlant: 40401,
  noSuchMethod: 40500,
  requestTimeout: 40800,
  idTaken: 40900,
  bodyTooLarge: 41300,
  targetTooLong: 41400,
  notJsonType: 41500,
  notUtf8Charset: 41501,
  contentCoding: 41502,
  expectation: 41700,
  notObject: 42200,
  idMissing: 42201,
  idNotInteger: 42202,
  idOutOfRange: 42203,
  nameMissing: 42204,
  nameNotString: 42205,
  tagNotString: 42206,
  limitInvalid: 42207,
  afterInvalid: 42208,
  headersTooLarge: 43100,
  unexpected: 50000,
  shuttingDown: 50300,
  overloaded: 50301,
  outcomeUnknown: 50302,
  storageFull: 50700,
};

const rows = Object.values(errorTable);
const lengthOf = (text: string) => new TextEncoder().encode(text).length;

describe("the error table", () => {
  it("has exactly the numbers of the contract, each with its name", () => {
    const numbers = Object.entries(errorTable).map(([kind, { error }]) => [kind, error]);
    expect(Object.fromEntries(numbers)).toEqual(contract);
  });

  it("is in the order of its numbers", () => {
    expect(rows.map(({ error }) => error)).toEqual(
      rows.map(({ error }) => error).toSorted((a, b) => a - b),
    );
  });

  it("describes the condition of each number on one line", () => {
    for (const { when } of rows) expect(when).toMatch(/^\S.*\S$/);
  });
});

describe("a RequestError", () => {
  it("has the number of its kind", () => {
    const error = new RequestError("idTaken", "id 7 belongs to a different plant");
    expect(error).toMatchObject({
      kind: "idTaken",
      error: 40900,
      message: "id 7 belongs to a different plant",
    });
  });

  it("is not an Error, so that many rejected requests do not pay for stack traces", () => {
    expect(new RequestError("unknownToken", "the token is unknown")).not.toBeInstanceOf(Error);
  });

  it("lists all problems in the order of the table, with the number of the first one", () => {
    const error = RequestError.naming([
      { kind: "nameMissing", message: "name is missing" },
      { kind: "idMissing", message: "id is missing" },
    ]);
    expect(error).toMatchObject({ error: 42201, message: "id is missing; name is missing" });
  });

  it("lists a problem once, although it occurs several times", () => {
    const problem = { kind: "duplicateMember", message: "a occurs twice" } as const;
    expect(RequestError.naming([problem, problem]).message).toBe("a occurs twice");
  });

  it.each([
    ["1000 bytes are left as they are", "a".repeat(1000), "a".repeat(1000)],
    ["1001 bytes are cut to 997 and an ellipsis", "a".repeat(1001), `${"a".repeat(997)}…`],
    ["1000 bytes of long characters are left", "é".repeat(500), "é".repeat(500)],
    ["a character of two bytes is not split", "é".repeat(501), `${"é".repeat(498)}…`],
    ["a character of three bytes is not split", "€".repeat(400), `${"€".repeat(332)}…`],
    ["a character of four bytes is not split", "🌿".repeat(300), `${"🌿".repeat(249)}…`],
    ["a replacement character is kept", "\uFFFD".repeat(400), `${"\uFFFD".repeat(332)}…`],
  ])("has at most 1000 bytes of message: %s", (_rule, message, expected) => {
    expect(new RequestError("unexpected", message).message).toBe(expected);
  });

  it("has a well-formed message of at most 1000 bytes for any problems", () => {
    const text = fc.string({ unit: "binary", minLength: 200, maxLength: 2000 });
    fc.assert(
      fc.property(text, (message) => {
        const cut = new RequestError("unexpected", message).message;
        expect(lengthOf(cut)).toBeLessThanOrEqual(maxMessageBytes);
        expect(cut.isWellFormed()).toBe(true);
        expect(message.startsWith(cut.replace(/…$/, ""))).toBe(true);
      }),
    );
  });
});
