/** Notes which tokens are used on which day, together and later: nobody's answer waits for it. */

/** Collects the uses of tokens. */
export interface TokenUses {
  /** A token was used just now. Costs no more than a look-up. */
  add(digest: string, lastUsedDay: number | undefined): void;
  /** Notes at once what was not noted yet. It never rejects. */
  flush(): Promise<void>;
}

/** How long uses wait for others that are noted together with them. */
const delayMs = 1000;
const dayMs = 86_400_000;

/** The day of a time: days since the epoch, in UTC. */
export function toDay(timeMs: number): number {
  return Math.floor(timeMs / dayMs);
}

/**
 * An empty collection.
 *
 * @param note a store's `noteTokenUses`. Each token comes to it once a day; again when it failed, and the token is used
 * again
 * @param now milliseconds since the epoch
 */
export function createTokenUses(
  note: (digests: readonly string[], day: number) => Promise<void>,
  now: () => number,
): TokenUses {
  let day = Number.NEGATIVE_INFINITY;
  /** Those of this day, waiting or noted. */
  const seen = new Set<string>();
  let waiting: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const digests = waiting;
    waiting = [];
    try {
      await note(digests, day);
    } catch {
      // A store that can't take it says so to those who create; this can wait for the next use.
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
      waiting.push(digest);
      timer ??= setTimeout(() => void flush(), delayMs).unref();
    },
    flush,
  };
}
