/** Records the days on which tokens are used, in batches that no response waits for. */
import type { PlantStore } from "../core/store.ts";
import { msPerUnit } from "../core/units.ts";

/** Collects the uses of tokens. */
export interface TokenUses {
  /** Records that a token was used now, at the cost of one lookup. */
  add(digest: string, lastUsedDay: number | undefined): void;
  /** Stores pending uses immediately. Never rejects. */
  flush(): Promise<void>;
}

/** Delay that collects uses into one batch. */
const delayMs = 1000;

/** Converts a time to a day: days since the epoch, in UTC. */
export function toDay(timeMs: number): number {
  return Math.floor(timeMs / msPerUnit.d);
}

/**
 * Creates an empty collection.
 *
 * @param store receives each token once a day, and again after a failure and another use
 * @param now milliseconds since the epoch
 */
export function createTokenUses(
  store: Pick<PlantStore, "noteTokenUses">,
  now: () => number,
): TokenUses {
  let day = Number.NEGATIVE_INFINITY;
  /** Digests of this day, pending or stored. */
  const seen = new Set<string>();
  let pending: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (pending.length === 0) return;
    const digests = pending;
    pending = [];
    try {
      await store.noteTokenUses(digests, day);
    } catch {
      // A create that fails reports the failure of the store. The next use of the token retries this.
      for (const digest of digests) seen.delete(digest);
    }
  }

  return {
    add(digest, lastUsedDay) {
      const today = toDay(now());
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
