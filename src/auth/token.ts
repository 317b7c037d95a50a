/** Tokens: their format with a checksum, their digests, and checks of their text (contract.md "Credential"). */
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { isBearerToken } from "./credential.ts";

const marker = "pst_";
const secretBytes = 32;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 is the first power of 62 above 2^256. */
const secretLength = 43;
/** 62^6 is the first power of 62 above 2^32. */
const checksumLength = 6;
const format = new RegExp(`^${marker}[0-9A-Za-z]{${secretLength + checksumLength}}$`);

/** Generates a token: `pst_`, 32 random bytes and their CRC-32, both in base62 of fixed width. */
export function mintToken(): string {
  const random = BigInt(`0x${randomBytes(secretBytes).toString("hex")}`);
  const secret = toBase62(random, secretLength);
  return marker + secret + checksumOf(secret);
}

/** Returns the SHA-256 of a token in lower-case hexadecimal; stores keep only this. */
export function digestToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** Removes the line break at the end, which editors and echo add. */
export function trimToken(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** Returns the problem with a token, worded to follow its name (`is empty`), without quoting it; undefined for a valid token. */
export function findTokenProblem(token: string): string | undefined {
  if (token === "") return "is empty";
  if (!isBearerToken(token)) {
    return "contains an invalid character, such as a space or a line break: copy it again";
  }
  if (isMistypedToken(token)) return "is incomplete or mistyped: copy it again";
  return undefined;
}

/**
 * Returns whether a text starts like a token of plantstore but is not one, because of a typing error. Other texts can be
 * tokens that an operator chose.
 */
export function isMistypedToken(text: string): boolean {
  if (!text.startsWith(marker)) return false;
  if (!format.test(text)) return true;
  const secret = text.slice(marker.length, marker.length + secretLength);
  return text.slice(-checksumLength) !== checksumOf(secret);
}

/**
 * Returns the prefix that identifies a token to its owner and does not help to guess the rest. It is empty for other
 * tokens, because they can be as short as the prefix.
 */
export function toTokenPrefix(token: string): string {
  return format.test(token) ? token.slice(0, marker.length + 4) : "";
}

function checksumOf(secret: string): string {
  return toBase62(BigInt(crc32(secret)), checksumLength);
}

function toBase62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= 62n) {
    digits = alphabet.charAt(Number(rest % 62n)) + digits;
  }
  return digits;
}
