/** Limits that keep a single client from using up the server. */
export interface ServerLimits {
  /** Maximum size of a request body, in bytes. */
  readonly maxBodyBytes: number;
  /** Maximum number of creates that wait for the store; one more gets 50301. */
  readonly maxInflight: number;
  /**
   * Maximum number of bytes in request bodies and in responses that are not yet sent; at least {@link maxBodyBytes}.
   * A body that does not fit gets 50301.
   */
  readonly maxWaitingBytes: number;
  /** Maximum number of connections; one more closes the connection that has been idle longest, or gets 50301. */
  readonly maxConnections: number;
  /** Time for a complete request to arrive; its headers must arrive in a third of it. */
  readonly requestTimeoutMs: number;
  /** Time after which an idle connection is closed. */
  readonly idleTimeoutMs: number;
}
