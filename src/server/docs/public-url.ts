/** Finds the URL under which a client reaches the server. */
import { isIP } from "node:net";

/** What is known of how the server is reached. */
export interface PublicUrlOptions {
  /** Where it listens, with the base path. */
  readonly url: string;
  /** The name or address that it was told to listen on. */
  readonly host: string;
  /** Where clients reach it, with the base path, when something stands in front of it. */
  readonly publicUrl?: string | undefined;
}

/** Names that need no quoting anywhere, and addresses (RFC 3986 section 3.2.2); each with an optional port. */
const plainHost = /^(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d*)?$/i;

const localName = /^(?:.+\.)?localhost$/;

/**
 * The URL in front of `/plants` for a client that sent this Host header.
 *
 * @returns undefined when the header names a host that is none of the server's. An address and `localhost` are always
 * taken; any other name could have been pointed here by somebody else's name server (DNS rebinding)
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

/** The same for all spellings of a name: without brackets, and without the dot that may end it (RFC 3986 section 3.2.2). */
function toName(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}
