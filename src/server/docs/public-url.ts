/** Finds the URL under which a client reaches the server. */
import { isIP } from "node:net";

/** URLs and names of a server. */
export interface PublicUrlOptions {
  /** URL on which it listens, with the base path. */
  readonly url: string;
  /** Configured name or address to listen on. */
  readonly host: string;
  /** URL for clients of a proxy, with the base path. */
  readonly publicUrl?: string | undefined;
}

/** Names without special characters, and addresses (RFC 3986 section 3.2.2), with an optional port. */
const plainHost = /^(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d*)?$/i;

const localName = /^(?:.+\.)?localhost$/;

/**
 * Returns the URL before `/plants` for a client that sent this Host header.
 *
 * @returns undefined if the header names another host. Addresses and `localhost` are always accepted; a foreign name
 * server can point any other name to this server (DNS rebinding)
 */
export function findPublicUrl(
  hostHeader: string | undefined,
  { url, host, publicUrl }: PublicUrlOptions,
): string | undefined {
  if (hostHeader === undefined) return publicUrl ?? url;
  const { protocol, pathname } = new URL(url);
  const asked = `${protocol}//${hostHeader}${pathname}`;
  if (!plainHost.test(hostHeader) || !URL.canParse(asked)) return undefined;
  const { hostname, href } = new URL(asked);
  const name = toName(hostname);
  const others = publicUrl === undefined ? [host] : [host, new URL(publicUrl).hostname];
  const isOwn = isIP(name) !== 0 || localName.test(name) || others.map(toName).includes(name);
  if (!isOwn) return undefined;
  return publicUrl ?? href.replace(/\/$/, "");
}

/** Normalizes a name: lower case, without brackets and without a final dot (RFC 3986 section 3.2.2). */
function toName(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}
