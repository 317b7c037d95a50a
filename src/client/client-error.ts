/** The ways in which a create gets no answer of a plant store. */

/**
 * - `refused`: nothing listens there
 * - `unknownHost`: its name could not be resolved
 * - `insecure`: TLS failed, such as for an untrusted certificate
 * - `timeout`: an attempt took longer than it may
 * - `lost`: the connection broke, or never came about
 * - `gateway`: a proxy in front of the plant store answered in its place, for a reason that passes
 */
export type UnavailableReason =
  | "refused"
  | "unknownHost"
  | "insecure"
  | "timeout"
  | "lost"
  | "gateway";

/**
 * No answer of a plant store, or half of one. The message says what happened, and where. Except when the reason is
 * `refused`, `unknownHost` or `insecure`, the plant may have been created; the same create can be repeated in any case
 * (CONTRACT "The same id again").
 */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
  readonly reason: UnavailableReason;
  /** Where the request went to. */
  readonly url: string;
  /** What the system or the proxy said. */
  readonly detail: string;
  /** How often it was tried, at least 1. */
  readonly attempts: number;

  /**
   * @param url where the request went to
   * @param detail what the system or the proxy said; part of the message
   */
  constructor(
    reason: UnavailableReason,
    url: string,
    detail: string,
    { attempts = 1, ...options }: ErrorOptions & { readonly attempts?: number } = {},
  ) {
    super(describe(reason, url, detail, attempts), options);
    this.reason = reason;
    this.url = url;
    this.detail = detail;
    this.attempts = attempts;
  }
}

function describe(
  reason: UnavailableReason,
  url: string,
  detail: string,
  attempts: number,
): string {
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  const after = attempts > 1 ? ` after ${attempts} attempts` : "";
  switch (reason) {
    case "refused":
      return `nothing answers at ${origin}${after}`;
    case "unknownHost":
      return `the host of ${origin} is not known${after} (${detail})`;
    case "insecure":
      return `no trustworthy connection to ${origin}${after}: ${detail}`;
    case "timeout":
      return `no complete answer from ${origin}${after} (${detail})`;
    case "lost":
      return `the connection to ${origin} was lost${after} (${detail})`;
    case "gateway":
      return `a proxy at ${origin} answered in place of the plant store${after} (${detail})`;
  }
}

/** An answer that no plant store gives. The message says what came instead, and from where. */
export class NotAPlantStoreError extends Error {
  override readonly name = "NotAPlantStoreError";
  /** Where the request went to. */
  readonly url: string;

  constructor(url: string, detail: string, options?: ErrorOptions) {
    super(`${url} is not where a plant store creates plants: ${detail}`, options);
    this.url = url;
  }
}
