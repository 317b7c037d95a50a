/** Maps errors of Node's network modules and undici to the errors of the client. */
import { statSync } from "node:fs";
import { toEndpoint } from "../../core/base-url.ts";
import { NotAPlantStoreError, UnavailableError } from "../client-error.ts";
import type { HttpRequest } from "./message.ts";

const lookupCodes = /^(?:ENOTFOUND|EAI_)/;
const tlsCodes = /CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO$/;
/** Codes for a certificate without a trusted issuer (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const untrustedCodes =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/;
/** Reasons that OpenSSL reports when the server responds without TLS. */
const noTlsReasons = /^(?:wrong version number|packet length too long)$/;
/** Message of OpenSSL: number, library, function, reason, source file and line. */
const opensslMessage = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/;

/**
 * Maps an error of a request. Errors without a code do not change: they are bugs, or errors of the client already.
 *
 * @param request its URL, and the trusted certificates
 */
export function toClientError(
  error: unknown,
  { url, ca }: Pick<HttpRequest, "url" | "ca">,
): unknown {
  const cause = error instanceof AggregateError ? selectCause(error.errors) : error;
  if (!(cause instanceof Error && "code" in cause && typeof cause.code === "string")) return error;

  const { code } = cause;
  const message = cause.message || code;
  const options = { cause };
  if (code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW") {
    return createNoHttpError(url, cause);
  }
  const socketProblem = findSocketProblem(code, url);
  if (socketProblem !== undefined) {
    return new UnavailableError("refused", url, socketProblem, options);
  }
  if (code === "ECONNREFUSED") return new UnavailableError("refused", url, code, options);
  if (lookupCodes.test(code)) return new UnavailableError("unknownHost", url, code, options);
  if (tlsCodes.test(code)) {
    return new UnavailableError(
      "insecure",
      url,
      describeTlsFailure(message, code, url, ca),
      options,
    );
  }
  const reason = lostReasons.get(message) ?? lostReasons.get(code) ?? message;
  return new UnavailableError("lost", url, reason, options);
}

/** Reasons by the message, or else the code, of Node's error for a connection that ends too early or cannot be opened. */
const lostReasons: ReadonlyMap<string, string> = new Map([
  ["socket hang up", "closed before the response"],
  ["aborted", "closed in the middle of the response"],
  ["UND_ERR_CONNECT_TIMEOUT", "connection timed out"],
  ["ECONNRESET", "reset by the server"],
  ["EPIPE", "closed by the server"],
  ["EHOSTUNREACH", "no route to the host"],
  ["ENETUNREACH", "no route to its network"],
]);

/** Creates the error for a response that an HTTP parser rejects. */
export function createNoHttpError(url: string, cause: Error): Error {
  return new NotAPlantStoreError(
    url,
    `its response is not HTTP (${cause.message.replace("Parse Error: ", "")})`,
    { cause },
  );
}

/** Creates the error for a response with more than `maxBytes` bytes. */
export function createTooLongError(url: string, maxBytes: number, options?: ErrorOptions): Error {
  return new NotAPlantStoreError(url, `its response has more than ${maxBytes} bytes`, options);
}

/** For a host with several addresses, a rejected connection is more helpful than an address without a route. */
function selectCause(errors: readonly unknown[]): unknown {
  const isRefusal = (error: unknown): boolean =>
    error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
  return errors.find(isRefusal) ?? errors.at(-1);
}

/** Describes why no connection to a Unix socket can be opened; undefined for any other URL or error. */
function findSocketProblem(code: string, url: string): string | undefined {
  const { socketPath } = toEndpoint(url);
  if (socketPath === undefined) return undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "no such socket";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  // Linux reports ECONNREFUSED for other files, macOS ENOTSOCK.
  if (code !== "ECONNREFUSED" && code !== "ENOTSOCK") return undefined;
  const isSocket = statSync(socketPath, { throwIfNoEntry: false })?.isSocket() !== false;
  return isSocket ? undefined : "it is not a socket";
}

function describeTlsFailure(
  message: string,
  code: string,
  url: string,
  ca: string | undefined,
): string {
  if (untrustedCodes.test(code)) {
    return ca === undefined
      ? `its certificate is not signed by a trusted authority (${code}): add its authority with NODE_EXTRA_CA_CERTS=FILE`
      : `its certificate is not signed by one of the given authorities (${code}): add its authority to them`;
  }
  const [, reason = message] = opensslMessage.exec(message) ?? [];
  return noTlsReasons.test(reason)
    ? `this is a port without TLS: try ${toEndpoint(url).origin.replace("https:", "http:")}`
    : reason;
}
