/** Finds the tokens that a word of the command line names. */
import { digestToken } from "../../../auth/token.ts";
import { quoteInput } from "../../../core/quote.ts";
import type { TokenRecord } from "../../../core/store.ts";
import { CommandError } from "../../command-error.ts";

/** Returns the tokens with a name, a prefix, or the whole text of a token; none for an empty word. */
export function findMatches(
  tokens: readonly TokenRecord[],
  wanted: string,
): readonly TokenRecord[] {
  if (wanted === "") return [];
  const digest = digestToken(wanted);
  return tokens.filter(
    (token) => token.name === wanted || token.prefix === wanted || token.digest === digest,
  );
}

/** The error for a word that names no token. */
export function noMatch(wanted: string): CommandError {
  return new CommandError(
    "usage",
    `no token matches "${quoteInput(wanted)}": "plantstore token list" shows names and prefixes`,
  );
}
