/** The URL of a plant store, as those who want to reach it name it. */
import { quoteInput } from "./quote.ts";

/** A text that is no such URL. The message continues a sentence that begins with where the text stands. */
export class InvalidUrl extends Error {
  override readonly name = "InvalidUrl";
}

/**
 * The URL that a plant store is at, without a slash at its end.
 *
 * @throws InvalidUrl
 */
export function parseBaseUrl(text: string): string {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new InvalidUrl(
      `is "${quoteInput(text)}": it must be a URL such as http://127.0.0.1:7526`,
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw new InvalidUrl(`is "${quoteInput(text)}": it must be a URL that ends before any ? or #`);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/**
 * A URL of any kind that holds no credential.
 *
 * @returns undefined for what is no URL
 * @throws InvalidUrl, in which it is not quoted, when it holds a secret
 */
export function parseUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) {
    throw new InvalidUrl(
      "holds a user name or a password: leave them out, a plant store wants a token",
    );
  }
  return url;
}
