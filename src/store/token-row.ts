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

/** The columns, for statements. */
export const tokenColumns =
  "digest, prefix, name, issued_at, expires_at, revoked_at, last_used_day";

/** Converts a token to the values of {@link tokenColumns}. */
export function toTokenValues<Text>(
  token: TokenRecord,
  toSqlText: (text: string) => Text,
): (Text | bigint | null)[] {
  const { digest, prefix, name, issuedAtMs, expiresAtMs, revokedAtMs, lastUsedDay } = token;
  return [
    ...[digest, prefix, name].map(toSqlText),
    ...[issuedAtMs, expiresAtMs, revokedAtMs, lastUsedDay].map(toSqlInteger),
  ];
}

/** Converts an integer for a column that may be NULL. */
export function toSqlInteger(value: number | undefined): bigint | null {
  return value === undefined ? null : BigInt(value);
}

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
