/** Checks tokens, at the cost of one digest for each request. */
import type { PlantStore, TokenRecord } from "../core/store.ts";
import { CredentialError } from "./credential.ts";
import { digestToken } from "./token.ts";
import { createTokenUses } from "./token-uses.ts";

/** Options for {@link createAuthenticator}. */
export interface AuthenticatorOptions {
  /** A token that is accepted in addition to the stored ones and never expires. */
  readonly ownToken?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Checks tokens. */
export interface Authenticator {
  /**
   * Checks a token.
   *
   * @returns undefined for a valid token, otherwise a CredentialError `unknownToken` or `expiredToken`
   * @throws StoreError when the stored tokens cannot be read
   */
  check(token: string): Promise<CredentialError | undefined>;
  /** Records the token uses of the last second. Call it before the store is closed. */
  flushUses(): Promise<void>;
}

/** Maximum age of a known token's record: a revocation takes effect within one second (contract.md "Credential"). */
const maxAgeMs = 900;
/** Records older than this are reloaded in the background, so that requests under load never wait for a reload. */
const refreshAgeMs = 400;
/** Maximum age of the records when a token is unknown, so that a new token works as soon as it is issued. */
const minAgeOfUnknownMs = 50;
/** Multiple of the reload time that raises that age, so that a flood of unknown tokens cannot keep the store busy. */
const readTimesOfUnknown = 4;

/**
 * Creates an authenticator that keeps the token records in memory and reloads old ones when a request arrives.
 * Tokens are looked up by digest, so that the time of a lookup reveals nothing about a token.
 */
export function createAuthenticator(
  store: Pick<PlantStore, "listTokens" | "noteTokenUses">,
  { ownToken, now = Date.now }: AuthenticatorOptions = {},
): Authenticator {
  const ownDigest = ownToken === undefined ? undefined : digestToken(ownToken);
  const uses = createTokenUses(store, now);
  let known: ReadonlyMap<string, TokenRecord> = new Map();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let maxAgeOfUnknownMs = minAgeOfUnknownMs;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const startedAtMs = performance.now();
    const tokens = await store.listTokens();
    known = new Map(tokens.map((token) => [token.digest, token]));
    readAtMs = startedAtMs;
    const readingTimeMs = performance.now() - startedAtMs;
    maxAgeOfUnknownMs = Math.max(minAgeOfUnknownMs, readTimesOfUnknown * readingTimeMs);
  }

  function refresh(): Promise<void> {
    return (reading ??= read().finally(() => (reading = undefined)));
  }

  /** @param askedAtMs arrival of the request, in milliseconds of `performance.now()` */
  function isTooOld(record: TokenRecord | undefined, askedAtMs: number): boolean {
    const limitMs = record === undefined ? Math.min(maxAgeOfUnknownMs, maxAgeMs) : maxAgeMs;
    return askedAtMs - readAtMs > limitMs;
  }

  function checkRecord(
    digest: string,
    record: TokenRecord | undefined,
    askedAtMs: number,
  ): CredentialError | undefined {
    if (askedAtMs - readAtMs > refreshAgeMs) {
      // A failure is reported by the next read that a request waits for.
      refresh().catch(() => undefined);
    }
    if (record === undefined || record.revokedAtMs !== undefined) {
      return new CredentialError(
        "unknownToken",
        "the token is unknown or was revoked: use one that this server issued",
        true,
      );
    }
    if (record.expiresAtMs !== undefined && record.expiresAtMs <= now()) {
      return new CredentialError("expiredToken", "the token has expired: use a new one", true);
    }
    uses.add(digest, record.lastUsedDay);
    return undefined;
  }

  return {
    async check(token) {
      const digest = digestToken(token);
      if (digest === ownDigest) return undefined;
      const askedAtMs = performance.now();
      // The read in progress may have started long before this request; the read after it has not.
      while (isTooOld(known.get(digest), askedAtMs)) await refresh();
      return checkRecord(digest, known.get(digest), askedAtMs);
    },
    flushUses: () => uses.flush(),
  };
}
