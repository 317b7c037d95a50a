/** The tokens that plantstore issues: how one is made, and what is stored of it (CONTRACT "Credential"). */
import { hash, randomBytes } from "node:crypto";
import { toToken } from "./token-format.ts";

const secretBytes = 32;

/** A new token, of 32 random bytes. */
export function mintToken(): string {
  return toToken(BigInt(`0x${randomBytes(secretBytes).toString("hex")}`));
}

/** What is stored of a token: its SHA-256, in lower-case hexadecimal. */
export function digestToken(token: string): string {
  return hash("sha256", token, "hex");
}
