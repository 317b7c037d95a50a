import { describe, expect, it } from "vitest";
import { toExitCode } from "../../src/cli/command-failure.ts";
import { type ErrorKind, errorTable } from "../../src/core/errors.ts";

describe("the exit code of an Error", () => {
  const exitCodes: Readonly<Record<ErrorKind, number>> = {
    malformedHttp: 7,
    notJson: 3,
    notUtf8: 3,
    emptyBody: 3,
    tooDeep: 3,
    duplicateMember: 3,
    loneSurrogate: 3,
    noCredential: 4,
    malformedCredential: 4,
    unknownToken: 4,
    expiredToken: 4,
    forbidden: 4,
    noSuchPath: 7,
    noSuchPlant: 9,
    noSuchMethod: 7,
    requestTimeout: 6,
    idTaken: 5,
    bodyTooLarge: 3,
    targetTooLong: 7,
    notJsonType: 3,
    notUtf8Charset: 3,
    contentCoding: 3,
    expectation: 7,
    notObject: 3,
    idMissing: 3,
    idNotInteger: 3,
    idOutOfRange: 3,
    nameMissing: 3,
    nameNotString: 3,
    tagNotString: 3,
    limitInvalid: 3,
    afterInvalid: 3,
    headersTooLarge: 7,
    unexpected: 6,
    shuttingDown: 6,
    overloaded: 6,
    outcomeUnknown: 6,
    storageFull: 6,
  };

  it.each(Object.entries(errorTable))("for %s", (kind, { error }) => {
    expect(toExitCode(error)).toBe(exitCodes[kind as ErrorKind]);
  });
});
