/** Tokens: their form, and the `Authorization` header that carries one (RFC 6750, contract.md "Credential"). */
import { type ErrorKind, RequestError } from "../core/errors.ts";

/** Every token that plantstore issues begins with it. */
export const tokenMarker = "pst_";
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 is the first power of 62 above 2^256. */
const secretLength = 43;
/** 62^6 is the first power of 62 above 2^32. */
const checksumLength = 6;
const format = new RegExp(`^${tokenMarker}[0-9A-Za-z]{${secretLength + checksumLength}}$`);
/** A b64token (RFC 6750 section 2.1). */
const b64token = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Formats 32 bytes as a token: `pst_`, the bytes and their CRC-32, both in base62 of fixed width. */
export function toToken(bytes: Buffer): string {
  const secret = toBase62(BigInt(`0x${bytes.toString("hex")}`), secretLength);
  return tokenMarker + secret + toChecksum(secret);
}

/** Removes the line break at the end, which editors and echo add. */
export function trimToken(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** What happens to tokens on their way, and what to do. A NUL comes from a wider encoding, such as UTF-16. */
const invalidForms: readonly (readonly [form: RegExp, problem: string])[] = [
  [/\0/, "is in UTF-16, or is not text: write it in UTF-8"],
  [/^\s*(?:"|'|“|‘|`)/, "is in quotes: remove them"],
  [/\S[ \t]*[\r\n]\s*\S/, "is on several lines: write it on one line"],
  [
    /\r$/,
    "ends with a carriage return (CR): remove it, or write the file with line feeds (LF) only",
  ],
  [/^\s|\s$/, "begins or ends with white space: remove it"],
  [/\s/, "contains a space: copy it again"],
];

function describeInvalidForm(token: string): string {
  const known = invalidForms.find(([form]) => form.test(token));
  return known?.[1] ?? "contains an invalid character: copy it again";
}

/** Returns the problem with a token, worded to follow its name (`is empty`), without quoting it; undefined for a valid token. */
export function findTokenProblem(token: string): string | undefined {
  if (token === "") return "is empty";
  if (/^bearer /i.test(token)) return "begins with its scheme: leave out Bearer";
  if (!b64token.test(token)) return describeInvalidForm(token);
  if (isMistypedToken(token)) return "is incomplete or mistyped: copy it again";
  return undefined;
}

/**
 * Returns whether a text starts like a token of plantstore but is not one, because of a typing error. Other texts can be
 * tokens that an operator chose.
 */
export function isMistypedToken(text: string): boolean {
  if (!text.startsWith(tokenMarker)) return false;
  if (!format.test(text)) return true;
  const secret = text.slice(tokenMarker.length, tokenMarker.length + secretLength);
  return text.slice(-checksumLength) !== toChecksum(secret);
}

/**
 * Returns the prefix that identifies a token to its owner and does not help to guess the rest. It is empty for other
 * tokens, because they can be as short as the prefix.
 */
export function toTokenPrefix(token: string): string {
  return format.test(token) ? token.slice(0, tokenMarker.length + 4) : "";
}

/** CRC-32 of ASCII text (RFC 1952 section 8) in base62. node:zlib takes longer to load than a token to check. */
function toChecksum(secret: string): string {
  let crc = ~0;
  for (let index = 0; index < secret.length; index++) {
    crc ^= secret.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 && 0xedb88320);
  }
  return toBase62(BigInt(~crc >>> 0), checksumLength);
}

function toBase62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= 62n) {
    digits = alphabet.charAt(Number(rest % 62n)) + digits;
  }
  return digits;
}

/**
 * Returns the error for a credential that is missing or invalid, or may not do this, with its challenge (RFC 6750 section 3).
 *
 * @param problem by section 3.1, if a token was sent
 */
export function toCredentialError(
  kind: ErrorKind,
  message: string,
  problem?: "invalid_token" | "insufficient_scope",
): RequestError {
  const challenge = `Bearer realm="plantstore"${problem === undefined ? "" : `, error="${problem}"`}`;
  return new RequestError(kind, message, { headers: [["WWW-Authenticate", challenge]] });
}

const howToSend = 'send the header "Authorization: Bearer <ACCESS_TOKEN>"';
const bearer = /^bearer(?: +(.*))?$/i;

/**
 * Finds the bearer token in the values of a request's Authorization headers.
 *
 * @returns the token, or a RequestError `noCredential` or `malformedCredential` that quotes no part of the header
 */
export function toBearerToken(values: readonly string[]): string | RequestError {
  const [value, ...others] = values;
  if (value === undefined) return toCredentialError("noCredential", `no credential: ${howToSend}`);
  const toMalformed = (message: string, problem?: "invalid_token"): RequestError =>
    toCredentialError("malformedCredential", message, problem);
  if (others.length > 0) {
    const problem = values.some((each) => bearer.test(each)) ? "invalid_token" : undefined;
    return toMalformed(`${values.length} Authorization headers: send exactly one`, problem);
  }
  const scheme = bearer.exec(value);
  if (scheme === null) return toMalformed(`not a bearer credential: ${howToSend}`);
  const token = scheme[1] ?? "";
  if (token === "") return toMalformed(`the bearer credential has no token: ${howToSend}`);
  if (b64token.test(token)) return token;
  return toMalformed(`the token ${describeInvalidForm(token)}`, "invalid_token");
}
