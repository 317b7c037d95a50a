/** Parses the URL of a plant store. */
import { quoteInput } from "./quote.ts";

/** Invalid URL. The message continues a sentence that starts with the source of the URL, such as `--url`. */
export class InvalidUrl extends Error {
  override readonly name = "InvalidUrl";
}

/**
 * Parses the URL of a plant store, and removes slashes at its end.
 *
 * @throws InvalidUrl
 */
export function parseBaseUrl(text: string): string {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new InvalidUrl(`must be a URL such as http://127.0.0.1:7526 (got "${quoteInput(text)}")`);
  }
  if (url.search !== "" || url.hash !== "") {
    throw new InvalidUrl(`must be a URL without ? and # (got "${quoteInput(text)}")`);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/**
 * Parses a URL of any scheme.
 *
 * @returns undefined for an invalid URL
 * @throws InvalidUrl if it contains a user name or a password; the message does not quote them
 */
export function parseUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) {
    throw new InvalidUrl(
      "contains a user name or a password: remove them, because a plant store uses a token",
    );
  }
  return url;
}
