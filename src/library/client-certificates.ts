/** Options of a client, and the check of its certificates, which few commands need. */
import { invalid, InvalidValue } from "../core/messages.ts";
import { X509Certificate } from "node:crypto";
import { attempt } from "../core/attempt.ts";
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
