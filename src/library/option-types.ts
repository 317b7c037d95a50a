/** Types of options: how the value of a program is checked, and how the text of a command line becomes a value. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { findTokenProblem } from "../auth/token.ts";
import { InvalidUrl, parseBaseUrl, parseHttpUrl } from "../core/base-url.ts";
import { quoteInput } from "../core/quote.ts";
import { StoreError } from "../core/store.ts";
import { describeStoreUrl, parseStoreUrl } from "../store/store-url.ts";

/** The type of an option. */
export interface OptionType<T> {
  /** Parses the text of a flag or an environment variable. @throws InvalidValue */
  parse(text: string): T;
  /** Checks the value that a program passes. @throws InvalidValue */
  check(value: unknown): T;
  /** Formats a value for help and reports, without secrets. */
  format(value: T): string;
  /** All values, if they are few. */
  readonly choices?: readonly string[];
}

/** An option: its type and its default. */
export interface OptionSpec<T> {
  readonly type: OptionType<T>;
  readonly default: T;
}

/** An invalid value. The message continues a sentence that starts with the name of the option. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
  /** True if the value has the right type and is too small, too large or not whole. */
  readonly isOutOfRange: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isOutOfRange?: boolean } = {}) {
    super(message, options);
    this.isOutOfRange = options.isOutOfRange === true;
  }
}

/** An error for a value that breaks a rule; the rule follows "must be". */
export function invalid(value: unknown, rule: string): InvalidValue {
  return new InvalidValue(`must be ${rule} (got ${describeValue(value)})`);
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return `"${quoteInput(value)}"`;
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}

/** A range of integers, both ends included. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Checks that a value is an integer in a range. @throws InvalidValue */
export function checkInteger(value: unknown, { min, max }: Range): number {
  const rule = `a whole number from ${min} to ${max}`;
  if (typeof value !== "number") throw invalid(value, rule);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidValue(`must be ${rule} (got ${value})`, { isOutOfRange: true });
}

/** An integer in a range. */
export function integer(range: Range): OptionType<number> {
  const { min, max } = range;
  return {
    parse(text) {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      throw invalid(text, `a whole number from ${min} to ${max}`);
    },
    check: (value) => checkInteger(value, range),
    format: String,
  };
}

/** One of several words. */
export function choice<Choice extends string>(choices: readonly Choice[]): OptionType<Choice> {
  const check = (value: unknown): Choice => {
    const found = choices.find((each) => each === value);
    if (found === undefined) throw invalid(value, `one of ${choices.join(", ")}`);
    return found;
  };
  return { parse: check, check, format: String, choices };
}

/**
 * A string by its rule.
 *
 * @param parse returns the normalized string. @throws InvalidValue
 * @param format by default the string itself, or `none` for an empty one
 */
function string(
  parse: (text: string) => string,
  format = (text: string): string => text || "none",
): OptionType<string> {
  return {
    parse,
    check(value) {
      if (typeof value === "string") return parse(value);
      throw invalid(value, "a string");
    },
    format,
  };
}

const hostName = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i;
/** RFC 3986 section 2.3, segment by segment. Clients would resolve `.` and `..`. */
const validBasePath = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~]+)*$/;

/** A host to listen on. An IPv6 address may be in brackets; one with a zone is invalid, because no URL can contain it. */
export const host = string((text) => {
  const name = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const isAddress = isIP(name) !== 0 && !name.includes("%");
  if (isAddress || hostName.test(text)) return name;
  throw invalid(text, "a host name or an IP address, without a port or a zone");
});

/** A prefix of paths: `/v1`, or empty. */
export const basePath = string((text) => {
  const inner = text.replace(/^\//, "").replace(/\/$/, "");
  const path = inner === "" ? "" : `/${inner}`;
  if (validBasePath.test(path)) return path;
  throw invalid(text, "a path such as /v1, of letters, digits and - . _ ~");
});

/** The URL of a plant store, without a slash at the end. */
export const baseUrl = string((text) => explainUrl(() => parseBaseUrl(text)));

/** The URL of a plant store, but not of a Unix socket. */
export const httpUrl = string((text) => explainUrl(() => parseHttpUrl(text)));

/** Reports an invalid URL as an invalid value. */
export function explainUrl<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidUrl)) throw error;
    throw new InvalidValue(error.message, { cause: error });
  }
}

/** Certificates in PEM, at least one; undefined for those of Node. */
export const certificates: OptionType<string | undefined> = {
  parse(text) {
    const problem = findCertificateProblem(text);
    if (problem === undefined) return text;
    throw new InvalidValue(problem);
  },
  check(value) {
    if (value === undefined) return undefined;
    if (typeof value === "string") return certificates.parse(value);
    throw invalid(value, "a string with certificates in PEM");
  },
  format: () => "certificates",
};

const pemCertificate = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g;

function findCertificateProblem(text: string): string | undefined {
  const blocks = text.match(pemCertificate) ?? [];
  if (blocks.length === 0) return "has no certificate in PEM (BEGIN CERTIFICATE)";
  const index = blocks.findIndex((block) => !isCertificate(block));
  return index === -1 ? undefined : `has an invalid certificate (number ${index + 1})`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** The URL of a store. */
export const storeUrl = string((text) => {
  try {
    parseStoreUrl(text);
    return text;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new InvalidValue(`is invalid: ${error.message}`, { cause: error });
  }
}, describeStoreUrl);

/** A bearer token, which no message contains. */
export const token: OptionType<string> = {
  parse(text) {
    const problem = findTokenProblem(text);
    if (problem !== undefined) throw new InvalidValue(problem);
    return text;
  },
  check(value) {
    if (typeof value !== "string") throw new InvalidValue("must be a string");
    return token.parse(value);
  },
  format: () => "a token",
};
