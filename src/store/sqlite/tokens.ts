/** Stores, ends and lists tokens. */
import type { EndedToken, TokenRecord, TokenState } from "../../core/store.ts";
import { toSqlInteger, type TokenRow, toToken, toTokenValues } from "../token-row.ts";
import type { Statements } from "./statements.ts";
import { fromSqlText, type StoredText, toSqlText } from "./text.ts";

/** Stores a token, unless its digest is stored already. */
export function insertToken(statements: Statements, token: TokenRecord): void {
  statements.insertToken.run(...toTokenValues(token, toSqlText));
}

/** Sets the ends of a token, except where it has earlier ones. */
export function endToken(
  statements: Statements,
  { digest, expiresAtMs, revokedAtMs }: EndedToken,
): void {
  const expiry = toSqlInteger(expiresAtMs);
  const revocation = toSqlInteger(revokedAtMs);
  statements.endToken.run(expiry, expiry, revocation, revocation, toSqlText(digest));
}

/** Returns the tokens if they do not have the known version. */
export function readTokens(statements: Statements, knownVersion: string | undefined): TokenState {
  // Before the tokens, so that a change after it is found by the next read.
  const row = statements.findTokenVersion.get() as { readonly version: bigint };
  const version = `${row.version}`;
  return version === knownVersion ? { version } : { version, tokens: listTokens(statements) };
}

/** Returns every token, oldest first. */
export function listTokens(statements: Statements): readonly TokenRecord[] {
  const rows = statements.listTokens.all() as TokenRow<StoredText>[];
  return rows.map((row) => toToken(row, fromSqlText));
}
