/** The credential in a request's Authorization header (RFC 6750 section 2.1, RFC 9110 section 11.6.2). */
import { type ErrorKind, Refusal } from "../core/errors.ts";

type CredentialErrorKind = Extract<
  ErrorKind,
  "noCredential" | "malformedCredential" | "unknownToken" | "expiredToken"
>;

/** A request without a valid credential. */
export class CredentialRefusal extends Refusal {
  /** The value for a WWW-Authenticate header (RFC 6750 section 3): names an error only once a token was sent. */
  readonly challenge: string;

  constructor(kind: CredentialErrorKind, message: string, isTokenSent: boolean) {
    super(kind, message);
    this.challenge = `Bearer realm="plantstore"${isTokenSent ? ', error="invalid_token"' : ""}`;
  }
}

const howToSend = 'send the header "Authorization: Bearer <ACCESS_TOKEN>"';
const bearer = /^bearer(?: +(.*))?$/i;
/** A b64token: what a bearer token may consist of. */
const b64token = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Whether a text can stand in an Authorization header as a bearer token. */
export function isBearerToken(text: string): boolean {
  return b64token.test(text);
}

/**
 * The bearer token out of all values of Authorization headers that a request has.
 *
 * @throws CredentialRefusal `noCredential`, `malformedCredential`; its message holds no part of the header
 */
export function parseCredential(values: readonly string[]): string {
  const [value, ...others] = values;
  if (value === undefined) {
    throw new CredentialRefusal("noCredential", `no credential: ${howToSend}`, false);
  }
  if (others.length > 0) {
    const isTokenSent = values.some((each) => bearer.test(each));
    throw malformed(`${values.length} Authorization headers: send exactly one`, isTokenSent);
  }
  const scheme = bearer.exec(value);
  if (scheme === null) throw malformed(`not a bearer credential: ${howToSend}`, false);
  const token = scheme[1] ?? "";
  if (token === "") throw malformed(`the bearer credential holds no token: ${howToSend}`, false);
  if (!isBearerToken(token)) {
    throw malformed("the token holds a character that no token has: copy it again", true);
  }
  return token;
}

function malformed(message: string, isTokenSent: boolean): CredentialRefusal {
  return new CredentialRefusal("malformedCredential", message, isTokenSent);
}
