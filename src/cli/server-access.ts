/** How commands reach a server: which certificates they trust, what -v shows, and the warning about plain HTTP. */
import { resolve } from "node:path";
import { type Post, post } from "../client/http-request.ts";
import { isLocalUrl, toEndpoint } from "../core/base-url.ts";
import { findConfigDirectoryIfAny } from "./config/saved-settings.ts";
import type { Io } from "./io.ts";
import type { requestOptions } from "./options/remote.ts";
import { parseText, type Values } from "./options/values.ts";
import type { Terminal } from "./terminal/terminal.ts";

/**
 * Finds the certificates of the authorities to trust: those in the file of `--cacert`, or those saved at the login to the
 * origin. Saved ones were checked at the login. Undefined for the authorities of Node.
 */
export async function findAuthorities(
  { url, cacert }: Pick<Values<typeof requestOptions>, "url" | "cacert">,
  io: Io,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (cacert !== undefined) return cacert === "" ? undefined : readAuthorities(cacert, io, signal);
  const directory = url.startsWith("https:") ? findConfigDirectoryIfAny(io) : undefined;
  if (directory === undefined) return undefined;
  const { readCredential } = await import("./config/saved-tokens.ts");
  return readCredential(directory, toEndpoint(url).origin, io)?.ca;
}

/** Far above the size of a list of all public authorities. */
const maxCertificatesBytes = 4 * 1024 * 1024;

export async function readAuthorities(
  path: string,
  io: Io,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { certificates } = await import("../library/transport.ts");
  const { readBytes } = await import("./input.ts");
  const name = `the file of certificates ${path}`;
  // `-` is a file here: standard input may be the token, or plants.
  const bytes = await readBytes(resolve(path), name, maxCertificatesBytes, io, signal);
  return parseText(name, new TextDecoder().decode(bytes), certificates);
}

/** Selects how requests are sent: with `-v`, they are shown on stderr. */
export async function selectPost(
  { isVerbose }: Pick<Values<typeof requestOptions>, "isVerbose">,
  terminal: Terminal,
  send: Post = post,
): Promise<Post> {
  return isVerbose ? (await import("./request-trace.ts")).tracePost(send, terminal) : send;
}

/** The warning for a URL to which a token would be sent in the clear; undefined without that risk. */
export function describePlaintext(baseUrl: string): string | undefined {
  if (baseUrl.startsWith("https:") || isLocalUrl(baseUrl)) return undefined;
  return `sending the token to ${baseUrl} unencrypted; use https on untrusted networks`;
}

export async function warnAboutPlaintext(baseUrl: string, terminal: Terminal): Promise<void> {
  const warning = describePlaintext(baseUrl);
  if (warning !== undefined) await terminal.warning(warning);
}
