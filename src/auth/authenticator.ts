/** Tells which tokens may create plants, at the cost of one digest for each request. */
import type { TokenRecord } from "../core/store.ts";
import { CredentialRefusal } from "./credential.ts";
import { digestToken } from "./token.ts";

/** Where the tokens are, and what time it is. */
export interface AuthenticatorOptions {
  /** Every token that was issued; a store's `listTokens`. */
  readonly listTokens: () => Promise<readonly TokenRecord[]>;
  /** A token that is accepted beside the stored ones, and never expires. */
  readonly ownToken?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Checks tokens. */
export interface Authenticator {
  /**
   * Returns when the token is good.
   *
   * @throws CredentialRefusal `unknownToken`, `expiredToken`
   * @throws StoreError when the tokens could not be read: who can't be checked is not let in
   */
  check(token: string): Promise<void>;
}

/** Half of the second within which a change must hold (CONTRACT "Credential"), so that reading it has the other half. */
const maxAgeMs = 500;

/**
 * An authenticator that keeps the tokens in memory and reads them anew, when a request comes, at most twice a second.
 * They are looked up by digest: what a look-up's time tells of a digest says nothing of the token.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const now = options.now ?? Date.now;
  const ownDigest = options.ownToken === undefined ? undefined : digestToken(options.ownToken);
  let known: ReadonlyMap<string, TokenRecord> = new Map();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const startedAtMs = performance.now();
    const tokens = await options.listTokens();
    known = new Map(tokens.map((token) => [token.digest, token]));
    readAtMs = startedAtMs;
  }

  return {
    async check(token) {
      const digest = digestToken(token);
      if (digest === ownDigest) return;
      if (performance.now() - readAtMs > maxAgeMs) {
        reading ??= read().finally(() => (reading = undefined));
        await reading;
      }
      const record = known.get(digest);
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
    },
  };
}
