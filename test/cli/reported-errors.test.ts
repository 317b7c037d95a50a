import { describe, expect, it } from "vitest";
import { findInexactArgument } from "../../src/cli/main.ts";

/** Returns the bytes of a command line. Each character of the arguments is one byte. */
function commandLine(...args: readonly string[]): () => Uint8Array {
  return () => Buffer.from(args.map((arg) => `${arg}\0`).join(""), "latin1");
}

const utf8 = (text: string): string => Buffer.from(text).toString("latin1");

describe("an argument", () => {
  it.each<[rule: string, argv: string[], line: () => Uint8Array | undefined, position?: number]>([
    [
      "whose bytes are not UTF-8 is found",
      ["create", "--name", "f\uFFFDrn"],
      commandLine("node", "plantstore", "create", "--name", "f\xFFrn"),
      3,
    ],
    [
      "that contains U+FFFD is exact",
      ["create", "--name", "\uFFFD"],
      commandLine("node", "plantstore", "create", "--name", utf8("\uFFFD")),
    ],
    [
      "is distinguished from the arguments of Node",
      ["\uFFFD"],
      commandLine("n\xFFde", "plantstore", utf8("\uFFFD")),
    ],
    [
      "is counted after empty ones",
      ["", "\uFFFD", ""],
      commandLine("node", "x", "", "\xFF", ""),
      2,
    ],
    ["is used as it is if the system does not provide its bytes", ["\uFFFD"], () => undefined],
  ])("%s", (_rule, argv, line, position) => {
    expect(findInexactArgument(argv, line)).toBe(position);
  });

  it("without U+FFFD is not compared with the system's bytes", () => {
    const read = (): never => expect.unreachable("it was read");
    expect(findInexactArgument(["create", "--name", "fern"], read)).toBeUndefined();
  });
});
