/** The tokens that plantstore issues. */
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { isMistypedToken, toTokenPrefix } from "../../src/auth/token.ts";
import { digestToken, mintToken } from "../../src/auth/authenticator.ts";

describe("a minted token", () => {
  it("is pst_, 43 digits of base62 for 32 bytes, and 6 for the checksum", () => {
    expect(mintToken()).toMatch(/^pst_[0-9A-Za-z]{49}$/);
  });

  it("differs from every other one", () => {
    expect(new Set(Array.from({ length: 1000 }, mintToken)).size).toBe(1000);
  });

  it("uses every digit of its alphabet at every position of its secret but the first", () => {
    const seen = Array.from({ length: 43 }, () => new Set<string>());
    for (let count = 0; count < 4000; count++) {
      const token = mintToken();
      for (const [index, digits] of seen.entries()) digits.add(token.charAt(4 + index));
    }
    expect(seen.slice(1).map((digits) => digits.size)).toEqual(
      Array.from({ length: 42 }, () => 62),
    );
  });

  it("passes its own checksum", () => {
    const tokens = Array.from({ length: 100 }, mintToken);
    expect(tokens.filter(isMistypedToken)).toEqual([]);
  });

  it("ends in the CRC-32 of its secret", () => {
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (const token of Array.from({ length: 100 }, mintToken)) {
      const checksum = Array.from(token.slice(-6), (digit) => digits.indexOf(digit));
      const value = checksum.reduce((sum, digit) => sum * 62 + digit, 0);
      expect(value).toBe(crc32(token.slice(4, -6)));
    }
  });

  it("fails its checksum if any one character is changed, removed or added", () => {
    const token = mintToken();
    const mistyped = Array.from(token.slice(4), (character, index) => {
      const at = 4 + index;
      const other = character === "a" ? "b" : "a";
      return [
        token.slice(0, at) + other + token.slice(at + 1),
        token.slice(0, at) + token.slice(at + 1),
        token.slice(0, at) + other + token.slice(at),
      ];
    }).flat();
    expect(mistyped.filter((each) => !isMistypedToken(each))).toEqual([]);
  });
});

it("a token that the operator chose has no checksum", () => {
  expect(isMistypedToken("my-own-token")).toBe(false);
});

it("a digest is the token's SHA-256", () => {
  expect(digestToken("abc")).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

it("a prefix shows four characters of the secret", () => {
  const token = mintToken();
  expect(toTokenPrefix(token)).toBe(token.slice(0, 8));
});

it("a token that the operator chose has no prefix, which could be the whole token", () => {
  expect(toTokenPrefix("hunter2")).toBe("");
});
