/** Stores, ends and lists tokens. */
import type { EndedToken, TokenRecord } from "../../core/store.ts";
import { type TokenRow, toToken } from "../token-row.ts";
import type { Statements } from "./statements.ts";
import { fromSqlText, toSqlText } from "./text.ts";

/** Stores a token, unless its digest is stored already. */
export function insertToken(statements: Statements, token: TokenRecord): void {
  statements.insertToken.run(
    toSqlText(token.digest),
    toSqlText(token.prefix),
    toSqlText(token.name),
    BigInt(token.issuedAtMs),
    toSqlInteger(token.expiresAtMs),
    toSqlInteger(token.revokedAtMs),
    toSqlInteger(token.lastUsedDay),
  );
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

/** Returns every token, oldest first. */
export function listTokens(statements: Statements): readonly TokenRecord[] {
  const rows = statements.listTokens.all() as TokenRow<Uint8Array>[];
  return rows.map((row) => toToken(row, fromSqlText));
}

/** Converts an integer for a column that may be NULL. */
function toSqlInteger(value: number | undefined): bigint | null {
  return value === undefined ? null : BigInt(value);
}
