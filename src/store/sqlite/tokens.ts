/** Stores and lists tokens. */
import type { TokenRecord } from "../../core/store.ts";
import { hasRival } from "../token-rival.ts";
import { toSqlInteger, toToken } from "./rows.ts";
import type { Statements, TokenRow } from "./statements.ts";
import { toSqlText } from "./text.ts";

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

/** Stores a token, unless another one that is not known has its name. @returns whether it is stored */
export function insertSuccessor(
  statements: Statements,
  token: TokenRecord,
  known: readonly string[],
): boolean {
  if (hasRival(listTokens(statements), token, known)) return false;
  insertToken(statements, token);
  return true;
}

/** Returns every token, oldest first. */
export function listTokens(statements: Statements): readonly TokenRecord[] {
  return (statements.listTokens.all() as TokenRow[]).map(toToken);
}
