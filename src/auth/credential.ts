/** The credential in a request's Authorization header (RFC 6750 section 2.1, RFC 9110 section 11.6.2). */
import { type ErrorKind, RequestError } from "../core/errors.ts";
import { isBearerToken } from "./token-format.ts";

type CredentialErrorKind = Extract<
  ErrorKind,
  "noCredential" | "malformedCredential" | "unknownToken" | "expiredToken"
>;

/** A credential that is missing or invalid. */
export class CredentialError extends RequestError {
  /** Value of the WWW-Authenticate header (RFC 6750 section 3); names an error only if a token was sent. */
  readonly challenge: string;

  constructor(kind: CredentialErrorKind, message: string, isTokenSent: boolean) {
    super(kind, message);
    this.challenge = `Bearer realm="plantstore"${isTokenSent ? ', error="invalid_token"' : ""}`;
  }
}

const howToSend = 'send the header "Authorization: Bearer <ACCESS_TOKEN>"';
const bearer = /^bearer(?: +(.*))?$/i;

/**
 * Finds the bearer token in the values of a request's Authorization headers.
 *
 * @returns the token, or a CredentialError `noCredential` or `malformedCredential` that quotes no part of the header
 */
export function toBearerToken(values: readonly string[]): string | CredentialError {
  const [value, ...others] = values;
  if (value === undefined) {
    return new CredentialError("noCredential", `no credential: ${howToSend}`, false);
  }
  if (others.length > 0) {
    const isTokenSent = values.some((each) => bearer.test(each));
    return malformed(`${values.length} Authorization headers: send exactly one`, isTokenSent);
  }
  const scheme = bearer.exec(value);
  if (scheme === null) return malformed(`not a bearer credential: ${howToSend}`, false);
  const token = scheme[1] ?? "";
  if (token === "") return malformed(`the bearer credential has no token: ${howToSend}`, false);
  if (!isBearerToken(token)) {
    return malformed("the token contains an invalid character: copy it again", true);
  }
  return token;
}

function malformed(message: string, isTokenSent: boolean): CredentialError {
  return new CredentialError("malformedCredential", message, isTokenSent);
}
