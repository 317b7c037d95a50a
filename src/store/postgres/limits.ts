/** How long the engine waits for what, each in milliseconds. */

/** The limits of an engine. */
export interface Limits {
  /** For a connection. */
  readonly connectMs: number;
  /** For a statement, as the server counts it, with the locks that it waits for. */
  readonly statementMs: number;
  /** For an answer, as this side counts it; longer than a statement may take: who is silent for so long is gone. */
  readonly answerMs: number;
  /**
   * The server, for the next statement of a transaction, before it gives that up and the locks with it. It counts from
   * the last answer, which may have been lost: a statement that waits for those locks on another connection is sent after
   * {@link answerMs}, and must not come to {@link statementMs} before.
   */
  readonly idleInTransactionMs: number;
  /** For what fails in passing to pass; an attempt that was begun by then is waited for. */
  readonly patienceMs: number;
}

/** The limits of a server's engine. */
export const defaultLimits: Limits = {
  connectMs: 5000,
  statementMs: 5000,
  answerMs: 8000,
  idleInTransactionMs: 10_000,
  patienceMs: 10_000,
};

/** The limits of a reader: who looks for a rare tag in all of a large store may wait for it. */
export const readerLimits: Limits = {
  ...defaultLimits,
  statementMs: 600_000,
  answerMs: 603_000,
};
