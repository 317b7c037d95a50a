/** What Node throws while it sends or reads, in our words. */
import { NotAPlantStoreError, UnavailableError } from "../client-error.ts";

const lookUpCodes = /^(?:ENOTFOUND|EAI_)/;
const tlsCodes = /CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO$/;
/** The chain of certificates ends with one that Node does not know (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const untrustedCodes =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/;
/** What came is no record of TLS: of the version, or else of the length, of which the first bytes of HTTP make no sense. */
const noTlsReasons = /^(?:wrong version number|packet length too long)$/;
/** What OpenSSL says: its number, the library, the function, the reason, the source file and the line. */
const opensslMessage = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/;

/**
 * What became of a request that failed. Errors without a code are bugs, or ours already, and stay as they are.
 *
 * @param url where the request went to
 */
export function toClientError(error: unknown, url: string): unknown {
  const cause = error instanceof AggregateError ? pickCause(error.errors) : error;
  if (!(cause instanceof Error && "code" in cause && typeof cause.code === "string")) return error;

  const { code } = cause;
  const message = cause.message || code;
  const options = { cause };
  if (code.startsWith("HPE_")) return createNoHttpError(url, message, options);
  if (code === "ECONNREFUSED") return new UnavailableError("refused", url, code, options);
  if (lookUpCodes.test(code)) return new UnavailableError("unknownHost", url, code, options);
  if (tlsCodes.test(code)) {
    return new UnavailableError("insecure", url, describeTlsFailure(message, code), options);
  }
  return new UnavailableError("lost", url, lostWords.get(message) ?? message, options);
}

/** What Node says of a connection that ends before an answer, and in the middle of it. */
const lostWords: ReadonlyMap<string, string> = new Map([
  ["socket hang up", "it was closed before an answer"],
  ["aborted", "it was closed in the middle of the answer"],
]);

/** An answer that the parser of HTTP refused. */
export function createNoHttpError(url: string, complaint: string, options: ErrorOptions): Error {
  return new NotAPlantStoreError(url, `its answer is not HTTP (${complaint})`, options);
}

/** An answer that may be endless. */
export function createTooLongError(url: string, maxBytes: number, options?: ErrorOptions): Error {
  return new NotAPlantStoreError(url, `its answer has more than ${maxBytes} bytes`, options);
}

/** Of a host with several addresses: that one of them answers at all says more than that another has no route. */
function pickCause(errors: readonly unknown[]): unknown {
  const isRefusal = (error: unknown): boolean =>
    error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
  return errors.find(isRefusal) ?? errors.at(-1);
}

function describeTlsFailure(message: string, code: string): string {
  if (untrustedCodes.test(code)) {
    return `its certificate is of nobody that Node trusts (${code}); NODE_EXTRA_CA_CERTS=FILE adds to these`;
  }
  const [, reason = message] = opensslMessage.exec(message) ?? [];
  return noTlsReasons.test(reason)
    ? "it speaks no TLS, so its URL may have to begin with http:"
    : reason;
}
