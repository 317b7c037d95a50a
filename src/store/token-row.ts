/** Rows of tokens: the databases have the same columns, and each its own form of texts and integers. */
import type { TokenRecord } from "../core/store.ts";

/** A row with all columns. */
export interface TokenRow<Text> {
  readonly digest: Text;
  readonly prefix: Text;
  readonly name: Text;
  readonly issued_at: Integer;
  readonly expires_at: Integer | null;
  readonly revoked_at: Integer | null;
  readonly last_used_day: Integer | null;
}

type Integer = bigint | string;

/** Converts a row. */
export function toToken<Text>(
  row: TokenRow<Text>,
  fromSqlText: (text: Text) => string,
): TokenRecord {
  return {
    digest: fromSqlText(row.digest),
    prefix: fromSqlText(row.prefix),
    name: fromSqlText(row.name),
    issuedAtMs: Number(row.issued_at),
    expiresAtMs: toNumber(row.expires_at),
    revokedAtMs: toNumber(row.revoked_at),
    lastUsedDay: toNumber(row.last_used_day),
  };
}

function toNumber(value: Integer | null): number | undefined {
  return value === null ? undefined : Number(value);
}
