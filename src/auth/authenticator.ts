/** Tells which tokens may create plants, at the cost of one digest for each request. */
import type { TokenRecord } from "../core/store.ts";
import { CredentialRefusal } from "./credential.ts";
import { digestToken } from "./token.ts";
import { createTokenUses } from "./token-uses.ts";

/** Where the tokens are, and what time it is. */
export interface AuthenticatorOptions {
  /** Every token that was issued; a store's `listTokens`. */
  readonly listTokens: () => Promise<readonly TokenRecord[]>;
  /** Notes on which day tokens were used; a store's `noteTokenUses`. */
  readonly noteTokenUses?: (digests: readonly string[], day: number) => Promise<void>;
  /** A token that is accepted beside the stored ones, and never expires. */
  readonly ownToken?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Checks tokens. */
export interface Authenticator {
  /**
   * Returns when the token is good: nothing when that is known at once, and otherwise a promise.
   *
   * @throws CredentialRefusal `unknownToken`, `expiredToken`
   * @throws StoreError when the tokens could not be read: who can't be checked is not let in. Either is thrown
   * at once, or rejects the promise
   */
  check(token: string): Promise<void> | undefined;
  /** Notes the uses of the last second, which it otherwise does by itself; to be called before the store is closed. */
  flushUses(): Promise<void>;
}

/**
 * A revocation holds within a second (CONTRACT "Credential"): who is let in was not revoked so long before the request
 * came.
 */
const maxAgeMs = 900;
/** From this age on the tokens are read anew beside the requests, so that under load none of them waits for it. */
const refreshAgeMs = 400;
/**
 * A token can be used as soon as it was issued: who is refused as unknown was unknown so long ago, which is less time than
 * a token takes on its way here.
 */
const minAgeOfUnknownMs = 50;
/** Where reading takes long, that is as many times longer: a flood of unknown tokens must not keep the store busy. */
const readTimesOfUnknown = 4;

/**
 * An authenticator that keeps the tokens in memory and reads them anew when a request comes and they are old.
 * They are looked up by digest: what a look-up's time tells of a digest says nothing of the token.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const now = options.now ?? Date.now;
  const ownDigest = options.ownToken === undefined ? undefined : digestToken(options.ownToken);
  const uses = createTokenUses(options.noteTokenUses ?? (async () => {}), now);
  let known: ReadonlyMap<string, TokenRecord> = new Map();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let maxAgeOfUnknownMs = minAgeOfUnknownMs;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const startedAtMs = performance.now();
    const tokens = await options.listTokens();
    known = new Map(tokens.map((token) => [token.digest, token]));
    readAtMs = startedAtMs;
    const readingTimeMs = performance.now() - startedAtMs;
    maxAgeOfUnknownMs = Math.max(minAgeOfUnknownMs, readTimesOfUnknown * readingTimeMs);
  }

  function refresh(): Promise<void> {
    return (reading ??= read().finally(() => (reading = undefined)));
  }

  /**
   * @param record what is known of a token
   * @param askedAtMs when the request came, in milliseconds of `performance.now()`
   */
  function isTooOld(record: TokenRecord | undefined, askedAtMs: number): boolean {
    const limitMs = record === undefined ? Math.min(maxAgeOfUnknownMs, maxAgeMs) : maxAgeMs;
    return askedAtMs - readAtMs > limitMs;
  }

  function checkRecord(digest: string, record: TokenRecord | undefined, askedAtMs: number): void {
    if (askedAtMs - readAtMs > refreshAgeMs) {
      // Should it fail, those are told who have to wait for the next one.
      refresh().catch(() => undefined);
    }
    if (record === undefined || record.revokedAtMs !== undefined) {
      throw new CredentialRefusal(
        "unknownToken",
        "the token is unknown or was revoked: use one that this server issued",
        true,
      );
    }
    if (record.expiresAtMs !== undefined && record.expiresAtMs <= now()) {
      throw new CredentialRefusal("expiredToken", "the token has expired: use a new one", true);
    }
    uses.add(digest, record.lastUsedDay);
  }

  async function checkFresh(digest: string, askedAtMs: number): Promise<void> {
    // A read that is under way may have begun long before the request came; the one behind it has not.
    do await refresh();
    while (isTooOld(known.get(digest), askedAtMs));
    checkRecord(digest, known.get(digest), askedAtMs);
  }

  return {
    check(token) {
      const digest = digestToken(token);
      if (digest === ownDigest) return undefined;
      const askedAtMs = performance.now();
      const record = known.get(digest);
      if (isTooOld(record, askedAtMs)) return checkFresh(digest, askedAtMs);
      checkRecord(digest, record, askedAtMs);
      return undefined;
    },
    flushUses: () => uses.flush(),
  };
}
