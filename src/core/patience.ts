/** How patiently a client may be told to be: the same for the command line and for other programs. */

/** The whole numbers that an option may be, both ends included. */
export const patienceRanges = {
  /** For one attempt, at most a day. */
  timeoutMs: { min: 1, max: 86_400_000 },
  /** Attempts after the first. */
  retries: { min: 0, max: 100 },
} as const;
