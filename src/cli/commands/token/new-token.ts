/** Stores a new token, and prints it once. */
import { toTokenPrefix } from "../../../auth/token-format.ts";
import { digestToken, mintToken } from "../../../auth/token.ts";
import type { PlantStore, TokenRecord } from "../../../core/store.ts";
import { type Io, writeText } from "../../io.ts";
import { toTokenReport } from "./token-rows.ts";

/** A token to issue. */
interface NewToken {
  readonly name: string;
  /** Undefined for a token that never expires. */
  readonly lifetimeMs: number | undefined;
  /** True to print JSON with the details of the token. */
  readonly json: boolean | undefined;
  /** Further members of the JSON. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Stores a new token and prints it on stdout, alone or as JSON. A token that cannot be printed is revoked.
 *
 * @throws StoreError; OutputError
 */
export async function addNewToken(
  store: Pick<PlantStore, "addToken" | "revokeToken">,
  { name, lifetimeMs, json, details }: NewToken,
  { stdout }: Pick<Io, "stdout">,
): Promise<TokenRecord> {
  const token = mintToken();
  const issuedAtMs = Date.now();
  const record: TokenRecord = {
    digest: digestToken(token),
    prefix: toTokenPrefix(token),
    name,
    issuedAtMs,
    expiresAtMs: lifetimeMs === undefined ? undefined : issuedAtMs + lifetimeMs,
  };
  const text = json ? JSON.stringify({ token, ...toTokenReport(record), ...details }) : token;
  await store.addToken(record);
  try {
    await writeText(stdout, `${text}\n`);
  } catch (error) {
    await store.revokeToken(record.digest, Date.now());
    throw error;
  }
  return record;
}
