import { describe, expect, it } from "vitest";
import { findInexactArgument } from "../../src/cli/run.ts";

/** The bytes of a command line, arguments given in Latin-1: one byte for each character. */
function commandLine(...args: readonly string[]): () => Uint8Array {
  return () => Buffer.from(args.map((arg) => `${arg}\0`).join(""), "latin1");
}

const utf8 = (text: string): string => Buffer.from(text).toString("latin1");

describe("an argument", () => {
  it.each<[rule: string, argv: string[], line: () => Uint8Array | undefined, place?: number]>([
    [
      "whose bytes are not UTF-8 is found",
      ["create", "--name", "f\uFFFDrn"],
      commandLine("node", "plantstore", "create", "--name", "f\xFFrn"),
      3,
    ],
    [
      "that is meant to hold U+FFFD is exact",
      ["create", "--name", "\uFFFD"],
      commandLine("node", "plantstore", "create", "--name", utf8("\uFFFD")),
    ],
    [
      "is told from those before it, which are not ours",
      ["\uFFFD"],
      commandLine("n\xFFde", "plantstore", utf8("\uFFFD")),
    ],
    ["is counted past empty ones", ["", "\uFFFD", ""], commandLine("node", "x", "", "\xFF", ""), 2],
    ["is taken as it is where the system does not tell", ["\uFFFD"], () => undefined],
  ])("%s", (_rule, argv, line, place) => {
    expect(findInexactArgument(argv, line)).toBe(place);
  });

  it("without U+FFFD costs no look at the system", () => {
    const read = (): never => expect.unreachable("it was read");
    expect(findInexactArgument(["create", "--name", "fern"], read)).toBeUndefined();
  });
});
