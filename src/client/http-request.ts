/** One request with node:http, and its errors. */
import { statSync } from "node:fs";
import type { Agent, IncomingMessage } from "node:http";
import type { PeerCertificate } from "node:tls";
import { onAbort } from "../core/attempt.ts";
import { toEndpoint } from "../core/base-url.ts";
import { isError, quoteInput } from "../core/messages.ts";
import {
  createAttemptTimeout,
  isUnreachable,
  NotAPlantStoreError,
  ResponseTooLongError,
  UnavailableError,
} from "./results.ts";

// Not the global function, which tests may replace with a fake.
export { setImmediate as endOfTurn } from "node:timers/promises";

/** Number of bytes that are read of any response. An Error has fewer: its message has at most 1000. */
const maxErrorBytes = 64 * 1024;
/** A Plant repeats the request body, and JSON escapes one character with up to six bytes. */
const plantBytesPerBodyCharacter = 6;

/** The reason phrase of a status; empty for an unknown one. */
export function toReasonPhrase(status: number): string {
  return process.getBuiltinModule("node:http").STATUS_CODES[status] ?? "";
}

export interface ClientConnections {
  /** A request may arrive twice, if its connection ends before the response. */
  readonly post: Post;
  /** Closes all connections. Requests in flight reject. */
  close(): Promise<void>;
}

/** Opens one connection, which is kept between requests. The first request connects. @param url any request's URL */
export function openKeptConnection(url: string): ClientConnections {
  const module = url.startsWith("https:") ? "node:https" : "node:http";
  const { Agent } = process.getBuiltinModule(module);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return { post: (request) => post(request, agent), close: async () => agent.destroy() };
}

/** Opens connections for the second plant only: the first one needs no undici, which takes 20 ms to load. @param open loads it */
export function openLate(open: () => Promise<ClientConnections>): ClientConnections {
  let isFirstSent = false;
  let opening: Promise<ClientConnections> | undefined;
  let connections: ClientConnections | undefined;
  return {
    post(request) {
      if (connections !== undefined) return connections.post(request);
      if (request.isRetry || !isFirstSent) {
        isFirstSent = true;
        return post(request);
      }
      opening ??= open().then((opened) => (connections = opened));
      return opening.then((opened) => opened.post(request));
    },
    async close() {
      await (await opening)?.close();
    },
  };
}

/** Sends a request, as a Post. @param agent by default, a connection for this request alone */
export async function post(message: ClientRequest, agent?: Agent): Promise<ClientResponse> {
  const { method = "POST", url, ca, headers, body, timeoutMs, signal } = message;
  const { httpUrl, socketPath } = toEndpoint(url);
  // Node 22 and later: import would load its fetch, HTTP/2 and web streams, which takes 20 ms.
  const { request } = url.startsWith("https:")
    ? process.getBuiltinModule("node:https")
    : process.getBuiltinModule("node:http");
  signal?.throwIfAborted();

  const sent = request(httpUrl, {
    method,
    ...(socketPath !== undefined && { socketPath }),
    ...(ca !== undefined && { ca }),
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
    // Not the global one, which may send the token to a proxy from the environment.
    agent: agent ?? false,
    // Overrides Node's --insecure-http-parser.
    insecureHTTPParser: false,
  });
  const timer = setTimeout(() => {
    sent.destroy(createAttemptTimeout(url, timeoutMs));
  }, timeoutMs);
  const release = onAbort(signal, () => sent.destroy(new Error("stopped")));
  try {
    return await new Promise((resolve, reject) => {
      let isComplete = (): boolean => false;
      // An error after the complete response does not matter.
      sent.on("error", (error) => isComplete() || reject(error));
      sent.on("response", (response) => {
        isComplete = () => response.complete;
        const head = toResponseHead(response);
        readResponseBody(response, head, message)
          .then((bytes) => ({ ...head, body: bytes }))
          .then(resolve, reject);
      });
      // Without this listener Node closes the connection silently.
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({ ...toResponseHead(response), body: new Uint8Array() });
      });
      sent.end(body);
    });
  } catch (error) {
    // A server may close an idle connection at any time (RFC 9112 section 9.3.1).
    if (sent.reusedSocket && isError(error) && "code" in error && error.code === "ECONNRESET") {
      const repeated = post(message).catch((failure: unknown) => {
        throw classifyRepeatedError(failure, message);
      });
      return { ...(await repeated), wasRepeated: true };
    }
    const reason = classifyError(error, message);
    signal?.throwIfAborted();
    throw reason;
  } finally {
    clearTimeout(timer);
    release();
    sent.destroy();
  }
}

/** Reads the body of a response, as far as {@link needsMore} says. @throws NotAPlantStoreError */
export async function readResponseBody(
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  head: ResponseHead,
  request: Pick<ClientRequest, "url" | "body" | "maxResponseBytes">,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of parts) {
    chunks.push(chunk);
    length += chunk.length;
    if (!needsMore(head, length, request)) break;
  }
  return Buffer.concat(chunks);
}

/**
 * Checks whether a response is read past its first bytes. Only a Plant or a page can have more than 64 KiB, up to the size that
 * its request allows. The head of any other response tells what it is.
 *
 * @param length number of bytes that have arrived
 * @param request its URL, and the body that a Plant repeats
 * @throws ResponseTooLongError for a longer Plant or page
 */
export function needsMore(
  { status, headers }: ResponseHead,
  length: number,
  { url, body, maxResponseBytes }: Pick<ClientRequest, "url" | "body" | "maxResponseBytes">,
): boolean {
  if (length <= maxErrorBytes) return true;
  if (status !== 200 || !/json/i.test(String(headers["content-type"]))) return false;
  const maxBytes = maxResponseBytes ?? maxErrorBytes + plantBytesPerBodyCharacter * body.length;
  if (length <= maxBytes) return true;
  throw new ResponseTooLongError(url, `a response of more than ${maxBytes} bytes`);
}

/** Uses `headersDistinct`, which keeps repeated headers; `headers` has only the first. */
function toResponseHead({ statusCode = 0, headersDistinct }: IncomingMessage): ResponseHead {
  return { status: statusCode, headers: headersDistinct };
}

export interface ClientRequest {
  /** `POST` by default. Every method can be repeated, because the operations of a plant store are idempotent. */
  readonly method?: "DELETE" | "GET" | "POST" | undefined;
  /** As in `core/base-url`, with the path. */
  readonly url: string;
  /** Certificates of trusted authorities, in PEM. Default: those of Node. */
  readonly ca?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty unless the method is `POST`. */
  readonly body: string;
  /** Limit for the body of the response, in bytes; by default that of a Plant. */
  readonly maxResponseBytes?: number | undefined;
  /** Limit for the whole request in milliseconds, from the name lookup to the last byte of the response. */
  readonly timeoutMs: number;
  /** True if an earlier attempt failed. A pool then uses a separate connection, which no other request can delay. */
  readonly isRetry?: boolean;
  /** Aborts the request, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A response without its body. */
export interface ResponseHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A response: not decompressed, redirects not followed, and complete unless it is longer than any of a plant store. */
export interface ClientResponse extends ResponseHead {
  readonly body: Uint8Array;
  /** True if the request was sent twice, because a connection ended before the response. */
  readonly wasRepeated?: boolean;
}

/**
 * Sends a request and reads the response.
 *
 * @throws UnavailableError without a complete response
 * @throws NotAPlantStoreError for a response that is not HTTP, or too long
 */
export type Post = (request: ClientRequest) => Promise<ClientResponse>;

/** Codes of undici for an invalid request, and for a pool that was closed while a request was in flight. */
const ownCodes: ReadonlySet<string> = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_DESTROYED"]);
const lookupCodes = /^(?:ENOTFOUND|EAI_)/;
const tlsCodes = /CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO$/;

/**
 * Finds the client's error for that of a request. Any other error stays as it is: it is a bug, or the client's own.
 *
 * @param request its URL, and the trusted certificates
 */
export function classifyError(
  error: unknown,
  { url, ca }: Pick<ClientRequest, "url" | "ca">,
): unknown {
  const cause = isAggregateError(error) ? selectCause(error.errors) : error;
  if (!isError(cause)) return error;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  const options = { cause };
  // undici's error has no code if the bytes come before the request is sent.
  const isOfParser = cause.name === "HTTPParserError" || code?.startsWith("HPE_");
  if (isOfParser || code === "UND_ERR_HEADERS_OVERFLOW") {
    return new NotAPlantStoreError(url, "no HTTP response", options);
  }
  if (code === undefined || ownCodes.has(code)) return error;

  const refusal = findRefusal(code, url);
  if (refusal !== undefined) return new UnavailableError("refused", url, refusal, options);
  if (lookupCodes.test(code)) return new UnavailableError("unknownHost", url, code, options);
  if (tlsCodes.test(code)) {
    return new UnavailableError("insecure", url, describeTlsFailure(cause, code, url, ca), options);
  }
  const { message } = cause;
  const reason = (lostReasons.get(message) ?? lostReasons.get(code) ?? message) || code;
  return new UnavailableError("lost", url, reason, options);
}

/**
 * Finds the client's error for a request whose first connection ended before the response. If no other one could be opened, the
 * store may have received the request all the same.
 */
export function classifyRepeatedError(
  error: unknown,
  request: Pick<ClientRequest, "url" | "ca">,
): unknown {
  const failure = classifyError(error, request);
  if (!(failure instanceof UnavailableError && isUnreachable(failure))) return failure;
  const { url } = request;
  return new UnavailableError("lost", url, "closed before the response", { cause: failure });
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

/** Node has this error for a host with several addresses. */
function isAggregateError(error: unknown): error is AggregateError {
  return isError(error) && "errors" in error && Array.isArray(error.errors);
}

/** For a host with several addresses, a rejected connection is more helpful than an address without a route. */
function selectCause(errors: readonly unknown[]): unknown {
  const isRefusal = (error: unknown): boolean =>
    isError(error) && "code" in error && error.code === "ECONNREFUSED";
  return errors.find(isRefusal) ?? errors.at(-1);
}

/** Finds the code of a connection that cannot be opened, equal on all systems; undefined for any other failure. */
function findRefusal(code: string, url: string): string | undefined {
  const { socketPath } = toEndpoint(url);
  if (socketPath === undefined) return code === "ECONNREFUSED" ? code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "ENOENT";
  if (code === "EACCES" || code === "EPERM") return "EACCES";
  // Linux reports ECONNREFUSED for other files, macOS ENOTSOCK.
  if (code !== "ECONNREFUSED" && code !== "ENOTSOCK") return undefined;
  const isSocket = statSync(socketPath, { throwIfNoEntry: false })?.isSocket() !== false;
  return isSocket ? "ECONNREFUSED" : "ENOTSOCK";
}

/** Codes for a certificate without a trusted issuer (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const untrustedCodes =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/;
/** The code for a certificate that the server sends alone, and that another one issued. */
const leafAloneCode = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
/** Reasons that OpenSSL reports when the server responds without TLS. */
const noTlsReasons = /^(?:wrong version number|packet length too long)$/;
/** Message of OpenSSL: number, library, function, reason, source file and line. */
const opensslMessage = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/;
/** Limit for the names in a message; a certificate can have a hundred. */
const maxNamesLength = 200;

/** Describes why TLS failed, and what to change. @param cert of another host, which Node adds to its error */
function describeTlsFailure(
  { message, cert }: Error & { readonly cert?: Partial<PeerCertificate> },
  code: string,
  url: string,
  ca: string | undefined,
): string {
  if (untrustedCodes.test(code)) {
    const [authority, variable] =
      ca === undefined
        ? ["a trusted authority", " or NODE_EXTRA_CA_CERTS=FILE"]
        : ["one of the given authorities", ""];
    const advice = `add its authority with --cacert FILE${variable}`;
    const problem = `its certificate is not signed by ${authority} (${code})`;
    return code === leafAloneCode
      ? `${problem}, and the server sends no intermediate certificate: let it send the whole chain (fullchain.pem), or ${advice}`
      : `${problem}: ${advice}`;
  }
  if (code === "CERT_HAS_EXPIRED") {
    return "its certificate, or that of its authority, has expired: renew it on the server";
  }
  if (cert !== undefined) {
    // Node 26: "DNS:" for none.
    const names = quoteInput(
      cert.subjectaltname?.replace(/^DNS:$/, "") || "no name",
      maxNamesLength,
    );
    return `its certificate is for ${names}, not for ${new URL(url).hostname}: use a name of the certificate in the URL`;
  }
  const [, reason = message || code] = opensslMessage.exec(message) ?? [];
  return noTlsReasons.test(reason)
    ? `this is a port without TLS: try ${toEndpoint(url).origin.replace("https:", "http:")}`
    : reason;
}
