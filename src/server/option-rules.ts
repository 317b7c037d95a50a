/** What the options of a server may be: the same for the command line and for other programs. */
import { isIP } from "node:net";

/** The whole numbers that an option may be, both ends included. */
export const optionRanges = {
  /** 0 takes a free one. */
  port: { min: 0, max: 65_535 },
  /** At most 64 MiB. */
  maxBodyBytes: { min: 1, max: 64 * 1024 * 1024 },
  maxInflight: { min: 1, max: 1_000_000 },
} as const;

/** What {@link toHost} takes, in words that follow "must be". */
export const hostRule = "a host name or an IP address, without a port or a zone";
/** What {@link toBasePath} takes, in words that follow "must be". */
export const basePathRule = "a path such as /v1, of letters, digits and - . _ ~";

const hostName = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i;
/** RFC 3986 section 2.3, segment by segment; `.` and `..` would be resolved away by clients. */
const basePath = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~]+)*$/;

/**
 * A host to listen on, without the brackets that an IPv6 address may stand in; undefined when it is none, or has a zone,
 * which no URL can have (https://url.spec.whatwg.org/#concept-ipv6-parser).
 */
export function toHost(text: string): string | undefined {
  const host = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const isAddress = isIP(host) !== 0 && !host.includes("%");
  return isAddress || hostName.test(text) ? host : undefined;
}

/** A base path, as `/v1` or, for none, as the empty string; undefined when the text is none. */
export function toBasePath(text: string): string | undefined {
  const inner = text.replace(/^\//, "").replace(/\/$/, "");
  const path = inner === "" ? "" : `/${inner}`;
  return basePath.test(path) ? path : undefined;
}
