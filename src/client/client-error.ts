/** The ways in which a create gets no answer of a plant store. */

/**
 * - `refused`: nothing listens there
 * - `unknownHost`: its name could not be resolved
 * - `insecure`: TLS failed, such as for an untrusted certificate
 * - `timeout`: an attempt took longer than it may
 * - `lost`: the connection broke, or never came about
 */
export type UnavailableReason = "refused" | "unknownHost" | "insecure" | "timeout" | "lost";

/**
 * No answer, or half of one. Except when the reason is `refused`, `unknownHost` or `insecure`, the plant may have been
 * created; the same create can be repeated in any case (CONTRACT "The same id again").
 */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
  readonly reason: UnavailableReason;
  /** Where the request went to. */
  readonly url: string;
  /** How often it was tried, at least 1. */
  readonly attempts: number;

  constructor(
    reason: UnavailableReason,
    url: string,
    message: string,
    { attempts = 1, ...options }: ErrorOptions & { readonly attempts?: number } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.url = url;
    this.attempts = attempts;
  }
}

/** An answer that no plant store gives. The message says what came instead. */
export class NotAPlantStoreError extends Error {
  override readonly name = "NotAPlantStoreError";
  /** Where the request went to. */
  readonly url: string;

  constructor(url: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.url = url;
  }
}
