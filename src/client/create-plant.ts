/** Creates one plant: request, response (contract.md "Given"), and retries with backoff. */
import manifest from "../../package.json" with { type: "json" };
import { onAbort } from "../core/attempt.ts";
import { joinPath } from "../core/base-url.ts";
import { operations, resultHeader } from "../core/contract.ts";
import { toNextStep, truncateMessage } from "../core/errors.ts";
import { quoteInput } from "../core/messages.ts";
import { parseErrorBody, parsePlant } from "../core/read-plant.ts";
import type { ClientRequest, ClientResponse, Post } from "./http-request.ts";
import {
  type CreateResponse,
  type ErrorResponse,
  maxRetryAfterS,
  NotAPlantStoreError,
  type StopCause,
  UnavailableError,
} from "./results.ts";

export interface SendPlantOptions {
  /** URL and headers, from `toCreateRequest`. */
  readonly request: CreateRequest;
  /** Limit for each attempt in milliseconds, from the name lookup to the last byte of the response. */
  readonly timeoutMs: number;
  /** Attempts after the first, if the failure is transient. */
  readonly retries: number;
  /** Sends each attempt: `post` of node:http, or that of a pool. */
  readonly post: Post;
  /** Aborts the create, which then rejects with the signal's reason. The plant may have been created. */
  readonly signal?: AbortSignal | undefined;
  /** True once the store has created a plant: a proxy then sent any undocumented 5xx, and a retry may succeed. */
  readonly isStoreKnown?: () => boolean;
  /** Ends the pause before a retry. The create then returns the result of the last attempt. */
  readonly stopSending?: AbortSignal;
  /** Called for each failed attempt before its retry. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** A failed attempt that will be repeated. */
export interface Retry {
  /** Counted from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly failure: UnavailableError | ErrorResponse;
}

/** Creates one plant. @param body the NewPlant as JSON. @throws as {@link sendWithRetries} */
export async function sendPlant(
  body: string,
  options: SendPlantOptions,
): Promise<Exclude<CreateResponse, ErrorResponse> | StopCause> {
  const { request, isStoreKnown } = options;
  return sendWithRetries(
    { ...request, body },
    (response) => parseResponse(response, request, isStoreKnown?.()),
    options,
  );
}

/**
 * Sends a request until it gets a response that is no transient failure.
 *
 * @param parse may throw an UnavailableError; any other error ends the attempts
 * @throws UnavailableError if the last attempt got no response of the store
 * @throws NotAPlantStoreError if another server responded
 */
export async function sendWithRetries<Success extends { readonly ok: true }>(
  request: Omit<ClientRequest, "timeoutMs" | "isRetry" | "signal">,
  parse: (response: ClientResponse) => Success | ErrorResponse,
  { retries, timeoutMs, post, signal, stopSending, onRetry }: Omit<SendPlantOptions, "request">,
): Promise<Success | StopCause> {
  for (let attempts = 1; ; attempts++) {
    let result: Success | ErrorResponse | UnavailableError;
    try {
      result = parse(await post({ ...request, timeoutMs, signal, isRetry: attempts > 1 }));
      if (result.ok) return result;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      result = error;
    }
    const isWorthwhile = isRetryable(result) && (result.retryAfterS ?? 0) <= maxRetryAfterS;
    if (isWorthwhile && attempts <= retries) {
      const delayMs = toRetryDelayMs(attempts, result.retryAfterS, Math.random());
      onRetry?.({ attempt: attempts, delayMs, failure: result });
      await pause(delayMs, [signal, stopSending]);
      signal?.throwIfAborted();
      if (!stopSending?.aborted) continue;
    }
    if (!(result instanceof UnavailableError)) return { ...result, attempts };
    const { reason, url, detail, ...rest } = result;
    throw new UnavailableError(reason, url, detail, { ...rest, cause: result.cause, attempts });
  }
}

/** Checks for a failure after which the same request may succeed soon. */
export function isRetryable(failure: UnavailableError | ErrorResponse): boolean {
  if (failure instanceof UnavailableError) {
    // A retry fixes neither an untrusted certificate nor an unknown host.
    const { reason, detail } = failure;
    return reason !== "insecure" && (reason !== "unknownHost" || detail === "EAI_AGAIN");
  }
  const next = toNextStep(failure.error.error);
  return next === "resend" || next === "retry";
}

const userAgent = `plantstore/${manifest.version}`;

/** A request without its method and body. */
export type CreateRequest = Pick<ClientRequest, "url" | "headers" | "ca">;

/**
 * Returns the URL and the headers of a create.
 *
 * @param baseUrl the plant store, including its base path, without a trailing slash
 * @param token undefined sends no credential
 * @param ca as in {@link ClientRequest}
 * @param traceparent identifies the trace that the request belongs to (W3C Trace Context)
 */
export function toCreateRequest(
  baseUrl: string,
  token: string | undefined,
  ca?: string,
  traceparent?: string,
): CreateRequest {
  return {
    url: joinPath(baseUrl, operations.create.path),
    ...(ca !== undefined && { ca }),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": userAgent,
      ...(traceparent !== undefined && { traceparent }),
    },
  };
}

/** Transient failures of a proxy in front of the plant store (RFC 6585 section 4, RFC 9110 section 15.6). */
const gatewayStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** Parses the Plant or the Error of a response, as {@link parseError}. */
export function parseResponse(
  response: ClientResponse,
  request: CreateRequest,
  isStoreKnown?: boolean,
): CreateResponse {
  const error = parseError(response, request, 200, isStoreKnown);
  if (error !== undefined) return error;
  const plant = parsePlant(response.body);
  if (plant === undefined) {
    throw new NotAPlantStoreError(request.url, "HTTP 200, JSON without a Plant");
  }
  const result = joinHeader(response.headers, resultHeader.toLowerCase());
  const isKnown = result === "created" || result === "unchanged" || result === "replaced";
  return { ok: true, plant, result: isKnown ? result : undefined };
}

/**
 * Parses the Error of a response. It may have the status 400, or the status that its number begins with. Text from the
 * server never contains the token of the request, and has at most the length of a message.
 *
 * @param success the status without an Error: 204, or 200 with a body of JSON
 * @param isStoreKnown true if a plant store is at this URL: any undocumented 5xx is then a transient failure of a proxy
 * @returns undefined for a response with that status
 * @throws NotAPlantStoreError for any other response, and for a limit of a proxy
 * @throws UnavailableError for a transient failure of a proxy
 */
export function parseError(
  response: ClientResponse,
  request: CreateRequest,
  success: 200 | 204,
  isStoreKnown = false,
): ErrorResponse | undefined {
  const { status, headers, body } = response;
  const { url } = request;
  const foreign = (detail: string): Error =>
    new NotAPlantStoreError(url, `HTTP ${status}${detail}`);
  const redact = (text: string): string => withoutToken(text, request);
  const getHeader = (name: string): string | undefined => joinHeader(headers, name);
  const retryAfterS = parseRetryAfter(getHeader("retry-after") ?? "", Date.now());

  if (status >= 300 && status <= 399) {
    const target = quoteInput(redact(getHeader("location") ?? "nowhere"), 200);
    throw foreign(` to ${target}, and redirects are not followed`);
  }
  const coding = getHeader("content-encoding") ?? "identity";
  const type = getHeader("content-type") ?? "";
  const isReadable =
    coding.toLowerCase() === "identity" && /^application\/json[ \t]*(?:;|$)/i.test(type);
  const error = isReadable && status >= 400 ? parseErrorBody(body) : undefined;
  if (error !== undefined && (status === 400 || status === Math.trunc(error.error / 100))) {
    // The token goes first: truncation could leave a part of it.
    const shorten = (text: string): string => truncateMessage(redact(text));
    const message = shorten(error.message);
    const id = getHeader("x-request-id");
    const requestId = id && shorten(id);
    return { ok: false, error: { ...error, message }, requestId, retryAfterS };
  }
  if (gatewayStatuses.has(status) || (isStoreKnown && status >= 500 && status <= 599)) {
    throw new UnavailableError("gateway", url, `status ${status}`, { retryAfterS, status });
  }
  if (status === 413) {
    const message = "a proxy in front of the store limits bodies: client_max_body_size in nginx";
    throw new NotAPlantStoreError(url, message, { proxyLimit: "body" });
  }
  if (status === 414 || status === 431) {
    const message = `a proxy in front of the store limits URLs and headers (status ${status}): large_client_header_buffers in nginx`;
    throw new NotAPlantStoreError(url, message, { proxyLimit: "head" });
  }
  if (status === 204 && success === 204) return undefined;
  if (coding.toLowerCase() !== "identity") {
    throw foreign(`, compressed with ${quoteInput(redact(coding))}`);
  }
  if (!isReadable || (status !== success && status !== 400)) {
    throw foreign(`, ${quoteInput(redact(type)) || "no content type"}`);
  }
  if (status === 400) throw foreign(", JSON without an Error");
  return undefined;
}

/** Joins a repeated header as a list (RFC 9110 section 5.3). */
function joinHeader(headers: ClientResponse["headers"], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** A shorter token is no secret: it occurs in ordinary words. */
const minSecretLength = 6;

function withoutToken(text: string, { headers }: CreateRequest): string {
  const token = headers["authorization"]?.replace(/^Bearer /, "") ?? "";
  return token.length < minSecretLength ? text : text.replaceAll(token, "[token]");
}

/** Delay before the first retry; it doubles for each further retry. */
const firstDelayMs = 200;
const maxDelayMs = 5000;

/** Resolves after a time in milliseconds, or when one of the signals is aborted. */
export function pause(timeMs: number, ends: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const release of releases) release();
      resolve();
    };
    const timer = setTimeout(end, timeMs);
    const releases = ends.map((signal) => onAbort(signal, end));
    if (ends.some((signal) => signal?.aborted)) end();
  });
}

/**
 * Returns the delay before a retry in milliseconds: exponential backoff with random jitter of up to a half. It is at least
 * the time that the server asked for, and 0 if the server asked for none.
 *
 * @param attempt number of the failed attempt, counted from 1
 * @param random in [0, 1)
 */
export function toRetryDelayMs(
  attempt: number,
  retryAfterS: number | undefined,
  random: number,
): number {
  if (retryAfterS === 0) return 0;
  const fullMs = Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs);
  return Math.max(fullMs * (1 - random / 2), (retryAfterS ?? 0) * 1000);
}

/**
 * Parses a Retry-After header: seconds or a date (RFC 9110 section 10.2.3).
 *
 * @param nowMs milliseconds since the epoch
 * @returns seconds; undefined for any other text, and for a past date, which may come from a slow clock
 */
export function parseRetryAfter(text: string, nowMs: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  const waitS = (Date.parse(text) - nowMs) / 1000;
  return waitS > 0 ? waitS : undefined;
}
