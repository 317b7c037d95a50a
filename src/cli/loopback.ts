/** Tells addresses that do not leave this machine. */
import { isIPv4 } from "node:net";

/** Whether the host of a URL is this machine itself (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3, RFC 6761 section 6.3). */
export function isLoopback(hostname: string): boolean {
  if (isIPv4(hostname)) return hostname.startsWith("127.");
  return hostname === "[::1]" || hostname === "localhost" || hostname.endsWith(".localhost");
}
