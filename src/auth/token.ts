/** Generates tokens and computes their digests (contract.md "Credential"). */
import { hash, randomBytes } from "node:crypto";
import { toToken } from "./token-format.ts";

const secretBytes = 32;

/** Generates a token from 32 random bytes. */
export function mintToken(): string {
  return toToken(BigInt(`0x${randomBytes(secretBytes).toString("hex")}`));
}

/** Returns the SHA-256 of a token in lower-case hexadecimal; stores keep only this. */
export function digestToken(token: string): string {
  return hash("sha256", token, "hex");
}
