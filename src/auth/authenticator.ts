/** Mints tokens, checks them against the store, and records the days of their use. */
import { hash, randomBytes } from "node:crypto";
import type { ContractOperationId } from "../core/contract.ts";
import type { RequestError } from "../core/errors.ts";
import type { PlantStore, TokenRecord } from "../core/store.ts";
import { toCredentialError, toToken } from "./token.ts";

const msPerDay = 86_400_000;

/** Checks the digests of tokens. */
export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Maximum age of a known token's record: a revocation takes effect within one second (contract.md "Credential"). */
const maxAgeMs = 900;
/** Records older than this are reloaded in the background, so that requests under load never wait for a reload. */
const refreshAgeMs = 400;
/** Maximum age of the records when a token is unknown, so that a new token works as soon as it is issued. */
const minAgeOfUnknownMs = 50;
/** Multiple of the reload time that raises that age, so that a flood of unknown tokens cannot keep the store busy. */
const readTimesOfUnknown = 4;

/**
 * Creates an authenticator that keeps the token records in memory and, when a request arrives, asks for changes of old ones.
 * Tokens are looked up by digest, so that the time of a lookup reveals nothing about a token.
 *
 * @param options `ownToken` is accepted in addition to the stored ones, and never expires; `now` is in milliseconds since the
 *   epoch
 */
export function createAuthenticator(
  store: Pick<PlantStore, "readTokens" | "recordTokenUse">,
  {
    ownToken,
    now = Date.now,
  }: { readonly ownToken?: string | undefined; readonly now?: () => number } = {},
) {
  const ownDigest = ownToken === undefined ? undefined : digestToken(ownToken);
  const uses = createTokenUses(store, now);
  let known: ReadonlyMap<string, TokenRecord> = new Map();
  let version: string | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let maxAgeOfUnknownMs = minAgeOfUnknownMs;
  let reading: Promise<void> | undefined;

  async function readChanges(): Promise<void> {
    const startedAtMs = performance.now();
    const state = await store.readTokens(version);
    ({ version } = state);
    if (state.tokens) known = new Map(state.tokens.map((token) => [token.digest, token]));
    readAtMs = startedAtMs;
    const readingTimeMs = performance.now() - startedAtMs;
    maxAgeOfUnknownMs = Math.max(minAgeOfUnknownMs, readTimesOfUnknown * readingTimeMs);
  }

  /** Reads the tokens if they changed. @throws StoreError when they cannot be read */
  function refresh(): Promise<void> {
    return (reading ??= readChanges().finally(() => (reading = undefined)));
  }

  function isExpired({ expiresAtMs }: TokenRecord): boolean {
    return expiresAtMs !== undefined && expiresAtMs <= now();
  }

  return {
    /**
     * Returns whether the tokens in memory are recent enough to check a digest. If not, call `refresh` and ask again with the
     * same time: a read in progress may have started long before.
     *
     * @param askedAtMs when a request is handled, in milliseconds of `performance.now()`
     */
    isFresh(digest: string, askedAtMs: number): boolean {
      if (digest === ownDigest) return true;
      const ageMs = askedAtMs - readAtMs;
      const limitMs = known.has(digest) ? maxAgeMs : Math.min(maxAgeOfUnknownMs, maxAgeMs);
      if (ageMs > limitMs) return false;
      // A failure is reported by the next read that a request waits for.
      if (ageMs > refreshAgeMs) refresh().catch(() => undefined);
      return true;
    },
    refresh,
    /**
     * Checks a digest for which the tokens are fresh.
     *
     * @returns undefined for a valid token that allows the operation
     */
    check(digest: string, operation: ContractOperationId): RequestError | undefined {
      if (digest === ownDigest) return undefined;
      const record = known.get(digest);
      if (record === undefined || record.revokedAtMs !== undefined) {
        return toCredentialError(
          "unknownToken",
          "the token is unknown or was revoked: use one that this server issued",
          "invalid_token",
        );
      }
      if (isExpired(record)) {
        const message = "the token has expired: use a new one";
        return toCredentialError("expiredToken", message, "invalid_token");
      }
      uses.add(digest, record.lastUsedDay);
      if (record.allow?.includes(operation) !== false) return undefined;
      const message = `this token may not ${operation} plants: use another one`;
      return toCredentialError("forbidden", message, "insufficient_scope");
    },
    /**
     * Returns whether the tokens in memory have a valid one with this digest, however old they are. It decides how much is
     * read of a client, never what is stored.
     */
    accepts(digest: string): boolean {
      if (digest === ownDigest) return true;
      const record = known.get(digest);
      return record !== undefined && record.revokedAtMs === undefined && !isExpired(record);
    },
    /** Records the token uses of the last second. Call it before the store is closed. */
    flushUses: () => uses.flush(),
  };
}

/** Generates a token. */
export function mintToken(): string {
  return toToken(randomBytes(32));
}

/** Returns the SHA-256 of a token in lower-case hexadecimal; stores keep only this. */
export function digestToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** Uses within this time are recorded together. */
const delayMs = 1000;

/** The store receives each token once a day, and again after a failure and another use. */
function createTokenUses(store: Pick<PlantStore, "recordTokenUse">, now: () => number) {
  let day = Number.NEGATIVE_INFINITY;
  /** Digests of this day, pending or stored. */
  const seen = new Set<string>();
  let pending: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  /** Never rejects. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (pending.length === 0) return;
    const digests = pending;
    pending = [];
    try {
      await store.recordTokenUse(digests, day);
    } catch {
      // A create that fails reports the failure of the store. The next use of the token retries this.
      for (const digest of digests) seen.delete(digest);
    }
  }

  return {
    /** Records that a token was used now, at the cost of one lookup. */
    add(digest: string, lastUsedDay: number | undefined): void {
      // Days since the epoch, in UTC.
      const today = Math.floor(now() / msPerDay);
      if (today !== day) {
        void flush();
        day = today;
        seen.clear();
      }
      if (seen.has(digest) || (lastUsedDay ?? day - 1) >= day) return;
      seen.add(digest);
      pending.push(digest);
      timer ??= setTimeout(() => void flush(), delayMs).unref();
    },
    flush,
  };
}
