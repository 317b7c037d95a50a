/** Stores and lists tokens. */
import type { TokenRecord } from "../../core/store.ts";
import type { Statements } from "./statements.ts";
import { fromSqlText, toSqlText } from "./text.ts";

/** A row of `listTokens`. */
interface TokenRow {
  readonly digest: Uint8Array;
  readonly prefix: Uint8Array;
  readonly name: Uint8Array;
  readonly issued_at: bigint;
  readonly expires_at: bigint | null;
  readonly revoked_at: bigint | null;
  readonly last_used_day: bigint | null;
}

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

/** Returns every token, oldest first. */
export function listTokens(statements: Statements): readonly TokenRecord[] {
  return (statements.listTokens.all() as TokenRow[]).map(toToken);
}

function toToken(row: TokenRow): TokenRecord {
  return {
    digest: fromSqlText(row.digest),
    prefix: fromSqlText(row.prefix),
    name: fromSqlText(row.name),
    issuedAtMs: Number(row.issued_at),
    expiresAtMs: fromSqlInteger(row.expires_at),
    revokedAtMs: fromSqlInteger(row.revoked_at),
    lastUsedDay: fromSqlInteger(row.last_used_day),
  };
}

/** Converts an integer for a column that may be NULL. */
function toSqlInteger(value: number | undefined): bigint | null {
  return value === undefined ? null : BigInt(value);
}

function fromSqlInteger(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
