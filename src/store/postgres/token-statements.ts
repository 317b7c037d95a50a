/** The statements on tokens. */
import type { ClientBase } from "pg";
import type { EndedToken, TokenRecord, TokenState } from "../../core/store.ts";
import { tokenColumns, type TokenRow, toToken, toTokenValues } from "../token-row.ts";
import { fromSqlText, toSqlText } from "./text.ts";

/** Stores a token, unless its digest is stored already. */
export async function insertToken(client: ClientBase, token: TokenRecord): Promise<void> {
  await client.query(
    `INSERT INTO plantstore_tokens (${tokenColumns})
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (digest) DO NOTHING`,
    toTokenValues(token, toSqlText),
  );
}

/** Returns the tokens if they do not have the known version. */
export async function readTokens(
  client: ClientBase,
  knownVersion: string | undefined,
): Promise<TokenState> {
  // Before the tokens, so that a change after it is found by the next read.
  const { rows } = await client.query<{ version: string }>(
    "SELECT version FROM plantstore_token_version",
  );
  // Without a row, which a TRUNCATE removes, the tokens may always have changed.
  const version = rows[0]?.version ?? "";
  return version !== "" && version === knownVersion
    ? { version }
    : { version, tokens: await findTokens(client) };
}

/** Returns every token, oldest first. */
export async function findTokens(client: ClientBase): Promise<readonly TokenRecord[]> {
  const { rows } = await client.query<TokenRow<string>>(`
    SELECT ${tokenColumns} FROM plantstore_tokens ORDER BY issued_at, added`);
  return rows.map((row) => toToken(row, fromSqlText));
}

/** Sets the ends of a token, except where it has earlier ones. */
export async function endToken(
  client: ClientBase,
  { digest, expiresAtMs, revokedAtMs }: EndedToken,
): Promise<void> {
  // LEAST ignores NULL.
  await client.query(
    `UPDATE plantstore_tokens
    SET expires_at = LEAST(expires_at, $2), revoked_at = LEAST(revoked_at, $3) WHERE digest = $1`,
    [toSqlText(digest), expiresAtMs, revokedAtMs],
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
