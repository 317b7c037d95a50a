/** The statements on tokens. */
import type { ClientBase } from "pg";
import type { TokenRecord } from "../../core/store.ts";
import { fromSqlText, toSqlText } from "./text.ts";

interface TokenRow {
  readonly digest: string;
  readonly prefix: string;
  readonly name: string;
  readonly issued_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_day: string | null;
}

/** Stores a token, unless its digest is stored already. */
export async function insertToken(client: ClientBase, token: TokenRecord): Promise<void> {
  await client.query(
    `INSERT INTO plantstore_tokens
      (digest, prefix, name, issued_at, expires_at, revoked_at, last_used_day)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (digest) DO NOTHING`,
    [
      toSqlText(token.digest),
      toSqlText(token.prefix),
      toSqlText(token.name),
      token.issuedAtMs,
      token.expiresAtMs,
      token.revokedAtMs,
      token.lastUsedDay,
    ],
  );
}

/** Returns every token, oldest first. */
export async function findTokens(client: ClientBase): Promise<readonly TokenRecord[]> {
  const { rows } = await client.query<TokenRow>(`
    SELECT digest, prefix, name, issued_at, expires_at, revoked_at, last_used_day
    FROM plantstore_tokens ORDER BY issued_at, added`);
  return rows.map((row) => ({
    digest: fromSqlText(row.digest),
    prefix: fromSqlText(row.prefix),
    name: fromSqlText(row.name),
    issuedAtMs: Number(row.issued_at),
    expiresAtMs: fromSqlInteger(row.expires_at),
    revokedAtMs: fromSqlInteger(row.revoked_at),
    lastUsedDay: fromSqlInteger(row.last_used_day),
  }));
}

/** Revokes a token, unless it is revoked already. */
export async function revokeToken(
  client: ClientBase,
  digest: string,
  revokedAtMs: number,
): Promise<void> {
  await client.query(
    "UPDATE plantstore_tokens SET revoked_at = $1 WHERE digest = $2 AND revoked_at IS NULL",
    [revokedAtMs, toSqlText(digest)],
  );
}

/** Makes a token expire at a time, unless it expires earlier already. */
export async function expireToken(
  client: ClientBase,
  digest: string,
  expiresAtMs: number,
): Promise<void> {
  await client.query(
    `UPDATE plantstore_tokens SET expires_at = $1
    WHERE digest = $2 AND (expires_at IS NULL OR expires_at > $1)`,
    [expiresAtMs, toSqlText(digest)],
  );
}

/** Removes tokens. */
export async function removeTokens(client: ClientBase, digests: readonly string[]): Promise<void> {
  await client.query("DELETE FROM plantstore_tokens WHERE digest = ANY ($1::text[])", [
    digests.map(toSqlText),
  ]);
}

/** Records the day on which tokens were used, unless a later day is recorded. */
export async function noteTokenUses(
  client: ClientBase,
  digests: readonly string[],
  day: number,
): Promise<void> {
  await client.query(
    `UPDATE plantstore_tokens SET last_used_day = $1
    WHERE digest = ANY ($2::text[]) AND (last_used_day IS NULL OR last_used_day < $1)`,
    [day, digests.map(toSqlText)],
  );
}

function fromSqlInteger(value: string | null): number | undefined {
  return value === null ? undefined : Number(value);
}
