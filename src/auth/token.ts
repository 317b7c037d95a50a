/** Makes tokens and their digests. */
import { hash, randomBytes } from "node:crypto";
import { toToken } from "./token-format.ts";

/** Generates a token. */
export function mintToken(): string {
  return toToken(randomBytes(32));
}

/** Returns the SHA-256 of a token in lower-case hexadecimal; stores keep only this. */
export function digestToken(token: string): string {
  return hash("sha256", token, "hex");
}
