/** How a client sends its requests: the certificates that it trusts, and its connections. */
import { X509Certificate } from "node:crypto";
import type { CreateRequest } from "../client/create-plant.ts";
import type { Fetch } from "../client/fetch-post.ts";
import type { ClientConnections, Post } from "../client/http-request.ts";
import { attempt } from "../core/attempt.ts";
import { invalid, InvalidValue } from "../core/messages.ts";
import { type AttemptOptions, attemptOptions, type SpecsOf } from "./client-options.ts";
import type { OptionType } from "./option-types.ts";

/** Certificates in PEM, at least one; undefined for those of Node. */
export const certificates = {
  parse: parsePem,
  check(value: unknown) {
    if (value === undefined) return undefined;
    if (typeof value === "string") return parsePem(value);
    throw invalid(value, "a string with certificates in PEM");
  },
  format: () => "certificates",
} satisfies OptionType<string | undefined>;

const pemCertificate = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g;

function parsePem(text: string): string | undefined {
  const blocks = text.match(pemCertificate) ?? [];
  if (blocks.length === 0) throw new InvalidValue("has no certificate in PEM (BEGIN CERTIFICATE)");
  const index = blocks.findIndex(
    (block) => attempt(() => new X509Certificate(block)) === undefined,
  );
  if (index === -1) return text;
  throw new InvalidValue(`has an invalid certificate (number ${index + 1})`);
}

/** Options of a client, besides the URL and the token. */
export interface ClientOptions extends AttemptOptions {
  /** Certificates of trusted authorities, in PEM; by default those of Node. */
  readonly ca?: string | undefined;
}

export const clientOptions = {
  ...attemptOptions,
  ca: { type: certificates, default: undefined },
} as const satisfies SpecsOf<ClientOptions>;

/** Returns the function that sends requests by default; undefined for sockets. */
export function getDefaultFetch(): Fetch | undefined {
  return undefined;
}

/** Loads the function that sends one request. A program that only starts a server needs no HTTP client. */
export async function loadPost(fetch: Fetch | undefined): Promise<Post> {
  if (fetch === undefined) return (await import("../client/http-request.ts")).post;
  return (await import("../client/fetch-post.ts")).createFetchPost(fetch);
}

/** Opens the connections of a bulk create. */
export async function openTransport(
  fetch: Fetch | undefined,
  { url, ca }: CreateRequest,
  { concurrency, timeoutMs }: { readonly concurrency: number; readonly timeoutMs: number },
): Promise<ClientConnections> {
  if (fetch !== undefined) return { post: await loadPost(fetch), close: async () => {} };
  if (concurrency === 1) return (await import("../client/http-request.ts")).openKeptConnection(url);
  const { openPool } = await import("../client/http-pool.ts");
  return openPool(url, concurrency, timeoutMs, ca);
}
