/** What a server takes at the most, so that no client can take it all. */

/** The limits of a server. */
export interface ServerLimits {
  /** Bytes of one body. */
  readonly maxBodyBytes: number;
  /** Creates that wait for the store; one more is refused with 50301. */
  readonly maxInflight: number;
  /** Bytes of all bodies that are arriving or wait for the store, at least {@link maxBodyBytes}; more get 50301. */
  readonly maxWaitingBytes: number;
  /** Connections; one more ends the one that has been idle for longest, or is refused with 50301. */
  readonly maxConnections: number;
  /** How long a whole request may take to arrive; its headers may take a third of it. */
  readonly requestTimeoutMs: number;
  /** How long a connection is kept on which no request is under way. */
  readonly idleTimeoutMs: number;
}

/** Those of a server that is told nothing else. */
export const defaultLimits: ServerLimits = {
  maxBodyBytes: 1024 * 1024,
  maxInflight: 4096,
  maxWaitingBytes: 64 * 1024 * 1024,
  maxConnections: 10_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 75_000,
};

/** What is under way. */
export interface ServerLoad {
  /** Creates that wait for the store. */
  readonly creates: number;
  /** Bytes of bodies that arrive or wait for the store. */
  readonly bodyBytes: number;
  readonly connections: number;
}
