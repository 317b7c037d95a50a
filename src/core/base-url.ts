/** Parses the URL of a plant store: `http:`, `https:`, or `unix:` with the path of a socket. */
import { invalid, InvalidValue } from "./messages.ts";

/** Maximum length of the path of a Unix socket on every supported system: 103 bytes on macOS, 107 on Linux. */
export const maxSocketPathBytes = 103;

/** `unix:/path/of.sock`, and a path of HTTP after another colon. */
const unixUrl = /^unix:(\/[^:]+)(?::(\/.*)?)?$/s;
/** Requests through a Unix socket need a host too. */
const socketOrigin = "http://localhost";

/** Parses the URL of a plant store, and removes slashes at its end. @throws InvalidValue */
export function parseBaseUrl(text: string): string {
  return text.startsWith("unix:") ? parseUnixUrl(text) : parseHttpUrl(text);
}

const withoutScheme = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/[\w./-]*)?$/i;

/** Parses a URL as {@link parseBaseUrl}, but not of a Unix socket. @throws InvalidValue */
export function parseHttpUrl(text: string): string {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const advice = withoutScheme.test(text)
      ? `a URL with its scheme: write ${isLocalUrl(`http://${text}`) ? "http" : "https"}://${text}`
      : "a URL such as http://127.0.0.1:7526";
    throw invalid(text, advice);
  }
  if (url.search !== "" || url.hash !== "") {
    throw invalid(text, "a URL without ? and #");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function parseUnixUrl(text: string): string {
  const [, socketPath = "", path = ""] =
    unixUrl.exec(text.replace(/^unix:\/\/(?=\/)/, "unix:")) ?? [];
  if (socketPath === "" || /^\/\/|\p{Cc}/u.test(socketPath)) {
    throw invalid(
      text,
      "unix: and the absolute path of a socket, such as unix:/run/plants.sock, with :/v1 for a base path",
    );
  }
  if (new TextEncoder().encode(socketPath).length > maxSocketPathBytes) {
    throw new InvalidValue(
      `has the path of a socket with more than ${maxSocketPathBytes} bytes: choose a shorter one`,
    );
  }
  const basePath = parseHttpUrl(socketOrigin + path).slice(socketOrigin.length);
  return toUnixUrl(`unix:${socketPath}`, basePath);
}

/** Returns the URL of a plant store behind a Unix socket. @param origin `unix:` and the path of the socket */
export function toUnixUrl(origin: string, basePath: string): string {
  return `${origin}${basePath === "" ? "" : `:${basePath}`}`;
}

/**
 * Parses a URL of any scheme.
 *
 * @returns undefined for an invalid URL
 * @throws InvalidValue if it contains a user name or a password; the message does not quote them
 */
export function parseUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) {
    throw new InvalidValue(
      "contains a user name or a password: remove them, because a plant store uses a token",
    );
  }
  return url;
}

/** Where the requests of a URL go. */
interface Endpoint {
  /** Identifies the server: scheme, host and port, or `unix:` and the path of a socket. */
  readonly origin: string;
  readonly socketPath?: string;
  readonly httpUrl: string;
}

/** @param url a valid one */
export function toEndpoint(url: string): Endpoint {
  const [, socketPath, path = ""] = unixUrl.exec(url) ?? [];
  if (socketPath === undefined) return { origin: new URL(url).origin, httpUrl: url };
  return { origin: `unix:${socketPath}`, socketPath, httpUrl: socketOrigin + path };
}

/** Adds a path to the URL of a plant store. @param path begins with a slash */
export function joinPath(baseUrl: string, path: string): string {
  const { socketPath, origin } = toEndpoint(baseUrl);
  const isRoot = socketPath !== undefined && baseUrl === origin;
  return baseUrl + (isRoot ? ":" : "") + path;
}

/**
 * Checks whether a host is this machine (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3, RFC 6761 section 6.3).
 *
 * @param host a name or an address; an IPv6 address may have brackets
 */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|\[::1\]|::1|(?:.+\.)?localhost)$/.test(host);
}

/** Checks whether a server is on this machine: behind a Unix socket, or at a loopback address. */
export function isLocalUrl(baseUrl: string): boolean {
  const { socketPath, httpUrl } = toEndpoint(baseUrl);
  return socketPath !== undefined || isLoopback(new URL(httpUrl).hostname);
}
