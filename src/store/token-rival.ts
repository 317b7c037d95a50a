/** Finds out whether a token was issued meanwhile with the name of a new one. */
import type { TokenRecord } from "../core/store.ts";

/**
 * Checks whether another token has the name of a new one.
 *
 * @param known digests of tokens that do not count
 */
export function hasRival(
  tokens: readonly TokenRecord[],
  { name, digest }: TokenRecord,
  known: readonly string[],
): boolean {
  const others = new Set([...known, digest]);
  return tokens.some((token) => token.name === name && !others.has(token.digest));
}
