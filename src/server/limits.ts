/** Limits, ranges and rules of the options of a server. */
import { isIP } from "node:net";

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

/** Default limits. */
export const defaultLimits: ServerLimits = {
  maxBodyBytes: 1024 * 1024,
  maxInflight: 4096,
  maxWaitingBytes: 64 * 1024 * 1024,
  maxConnections: 10_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 75_000,
};

/** Ranges of the integer options, both ends included. */
export const optionRanges = {
  /** 0 selects a free port. */
  port: { min: 0, max: 65_535 },
  /** At most 64 MiB. */
  maxBodyBytes: { min: 1, max: 64 * 1024 * 1024 },
  maxInflight: { min: 1, max: 1_000_000 },
} as const;

/** Rule of {@link toHost}, as a continuation of "must be". */
export const hostRule = "a host name or an IP address, without a port or a zone";
/** Rule of {@link toBasePath}, as a continuation of "must be". */
export const basePathRule = "a path such as /v1, of letters, digits and - . _ ~";

const hostName = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i;
/** RFC 3986 section 2.3, segment by segment. Clients would resolve `.` and `..`. */
const basePath = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~]+)*$/;

/**
 * Validates a host to listen on and removes the brackets of an IPv6 address.
 *
 * @returns undefined for an invalid host and for an address with a zone, which no URL can contain
 */
export function toHost(text: string): string | undefined {
  const host = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const isAddress = isIP(host) !== 0 && !host.includes("%");
  return isAddress || hostName.test(text) ? host : undefined;
}

/** Normalizes a base path to `/v1` or an empty string; undefined for an invalid one. */
export function toBasePath(text: string): string | undefined {
  const inner = text.replace(/^\//, "").replace(/\/$/, "");
  const path = inner === "" ? "" : `/${inner}`;
  return basePath.test(path) ? path : undefined;
}
