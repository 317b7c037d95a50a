/** Results of a create, and errors of a client: no usable response, stopped. */
import { toEndpoint } from "../core/base-url.ts";
import { type NextStep, toNextStep } from "../core/errors.ts";
import type { ErrorBody, NewPlant, Plant } from "../core/plant.ts";
import type { SuccessfulResult } from "../core/store.ts";

/** An Error of a plant store. */
export type ErrorResponse = {
  readonly ok: false;
  readonly plant?: undefined;
  readonly result?: undefined;
  readonly error: ErrorBody;
  /** Id of the request in the server's log. */
  readonly requestId?: string | undefined;
  /** Seconds that the server asks to wait before a retry. */
  readonly retryAfterS?: number | undefined;
};

/** Response of a plant store to a create. `ok` tells the kinds of a response, and of a result, apart. */
export type CreateResponse =
  | {
      readonly ok: true;
      readonly plant: Plant;
      /** Missing if the server does not report it; plantstore does. */
      readonly result?: SuccessfulResult | undefined;
      readonly error?: undefined;
      readonly requestId?: undefined;
    }
  | ErrorResponse;

/** Response of a plant store to a deletion. */
export type DeleteResponse =
  | {
      readonly ok: true;
      /** Present if no plant has the id, but an earlier attempt may have deleted it. */
      readonly gone?: true;
      readonly error?: undefined;
      readonly requestId?: undefined;
    }
  | ErrorResponse;

/** Longest time that a client waits before a retry; a server that asks for more ends the attempts. */
export const maxRetryAfterS = 60;

/** What a message adds about a server that asks to wait longer than {@link maxRetryAfterS}. */
export function toWaitDetails(retryAfterS = 0): readonly string[] {
  return retryAfterS > maxRetryAfterS ? [`asks to wait ${Math.ceil(retryAfterS)} s`] : [];
}

/**
 * - `refused`: no server listens at the address, or the Unix socket cannot be used
 * - `unknownHost`: the host name cannot be resolved
 * - `insecure`: TLS failed, for example because of an untrusted certificate
 * - `timeout`: an attempt took too long
 * - `lost`: the connection broke, or could not be opened
 * - `gateway`: a proxy responded instead of the plant store, with a transient failure
 */
export type UnavailableReason =
  | "refused"
  | "unknownHost"
  | "insecure"
  | "timeout"
  | "lost"
  | "gateway";

/**
 * No complete response of a plant store. The message says what happened to the last attempt, and where. The plant may have been
 * created, unless the only attempt was `refused`, `unknownHost` or `insecure`. The create can be repeated in any case ("plantstore
 * help contract").
 */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
  readonly reason: UnavailableReason;
  /** URL of the request. */
  readonly url: string;
  /** Report of the system or the proxy. */
  readonly detail: string;
  /** Number of attempts, at least 1. */
  readonly attempts: number;
  /** Seconds that a proxy asks to wait before a retry. */
  readonly retryAfterS: number | undefined;
  /** Status of the response of a proxy. */
  readonly status: number | undefined;

  /**
   * @param url of the request
   * @param detail what the system or the proxy reported; part of the message
   */
  constructor(
    reason: UnavailableReason,
    url: string,
    detail: string,
    {
      attempts = 1,
      retryAfterS,
      status,
      ...options
    }: ErrorOptions & {
      readonly attempts?: number;
      readonly retryAfterS?: number | undefined;
      readonly status?: number | undefined;
    } = {},
  ) {
    super(toUnavailableMessage(reason, url, detail, attempts, retryAfterS), options);
    this.reason = reason;
    this.url = url;
    this.detail = detail;
    this.attempts = attempts;
    this.retryAfterS = retryAfterS;
    this.status = status;
  }
}

/** Creates the error for a request without a complete response in its time. */
export function createAttemptTimeout(url: string, timeoutMs: number): UnavailableError {
  return new UnavailableError("timeout", url, `waited ${timeoutMs / 1000} s`);
}

function toUnavailableMessage(
  reason: UnavailableReason,
  url: string,
  detail: string,
  attempts: number,
  retryAfterS: number | undefined,
): string {
  const origin = URL.canParse(url) ? toEndpoint(url).origin : url;
  const after = attempts > 1 ? ` after ${attempts} attempts` : "";
  switch (reason) {
    case "refused":
      return `cannot connect to ${origin}${after}: ${toReason(detail)}`;
    case "unknownHost":
      return `cannot resolve the host of ${origin}${after} (${toReason(detail)})`;
    case "insecure":
      return `no secure connection to ${origin}${after}: ${detail}`;
    case "timeout":
      return `no complete response from ${origin}${after} (${detail})`;
    case "lost":
      return `lost the connection to ${origin}${after} (${detail})`;
    case "gateway":
      return `a proxy at ${origin} responded instead of the plant store${after} (${[detail, ...toWaitDetails(retryAfterS)].join("; it ")})`;
  }
}

/** The words for the `detail` of an UnavailableError. */
export function toReason(detail: string): string {
  return reasons[detail] ?? detail;
}

/** By the code of a connection that cannot be opened, or of a failed name lookup. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  ECONNREFUSED: "connection refused",
  ENOENT: "no such socket",
  ENOTSOCK: "it is not a socket",
  EAI_AGAIN: "no name server responded",
  ENOTFOUND: "unknown name",
};

/** A response that no plant store sends. The message says what it was and where it came from. */
export class NotAPlantStoreError extends Error {
  override readonly name = "NotAPlantStoreError";
  /** URL of the request. */
  readonly url: string;
  /** Limit of a proxy in front of the store that the request exceeds. Smaller plants pass a limit of bodies. */
  readonly proxyLimit: ProxyLimit | undefined;

  constructor(
    url: string,
    detail: string,
    { proxyLimit, ...options }: ErrorOptions & { readonly proxyLimit?: ProxyLimit } = {},
  ) {
    const message = `${url} is not a plant store (${detail})`;
    super(proxyLimit === undefined ? message : detail, options);
    this.url = url;
    this.proxyLimit = proxyLimit;
  }
}

/** A response with more bytes than the client reads. */
export class ResponseTooLongError extends NotAPlantStoreError {}

/** A page of plants with more bytes than the client reads: one plant that is too large. The next pages can be listed. */
export class PageTooLargeError extends Error {
  override readonly name = "PageTooLargeError";
  /** The id that the plant follows; undefined if it is the first one. */
  readonly after: bigint | undefined;

  constructor(after: bigint | undefined, options?: ErrorOptions) {
    const plant = after === undefined ? "the first plant" : `the plant after the id ${after}`;
    super(
      `${plant} is too large for a response: read it where the store is, and continue after its id`,
      options,
    );
    this.after = after;
  }
}

/** Part of a request that a proxy limits: `body` concerns one plant, `head` concerns every plant. */
export type ProxyLimit = "body" | "head";

/** Checks for a request whose body exceeds the limit of a proxy. Other plants may pass. */
export function isTooLargeForProxy(error: unknown): error is NotAPlantStoreError {
  return error instanceof NotAPlantStoreError && error.proxyLimit === "body";
}

/** Reason for which a plant is not created. */
export interface Rejection {
  /** A number of the error table; missing if no rule of the service is broken, or without a response. */
  readonly error?: number;
  /** The broken rule or the failure, and how to fix it. */
  readonly message: string;
}

export interface PlantItem {
  /** A Rejection is not sent. */
  readonly plant: NewPlant | Rejection;
  /** Bytes that the item holds in memory. */
  readonly bytes: Uint8Array;
}

/** An item with its result; undefined if it was not sent, or its response is unknown because the run stopped. */
export type ItemOutcome<Item> = readonly [item: Item, result: ItemResult | undefined];

/**
 * Result for one item. If it was sent:
 * - `created`, `unchanged`, `replaced`: the plant is in the store
 * - `rejected`: the same request would fail again
 * - `failed`: a retry may succeed
 *
 * If it was not:
 * - `rejected`: the plant is invalid
 * - `valid`: the plant is valid, and the run is a dry run
 */
export type ItemResult =
  | {
      readonly ok: true;
      readonly status: SuccessfulResult | "valid";
      readonly plant: Plant;
    }
  | {
      readonly ok: false;
      readonly status: "rejected" | "failed";
      /** Without a number if the service did not respond: the UnavailableError itself. */
      readonly error: Rejection;
      /** Id of the request in the server's log. */
      readonly requestId?: string | undefined;
    };

/** The result of an item that was sent. A response that names no result counts as `created`. */
export function toItemResult(
  response: CreateResponse | UnavailableError | NotAPlantStoreError,
): ItemResult {
  if (response instanceof UnavailableError) return { ok: false, status: "failed", error: response };
  if (response instanceof NotAPlantStoreError) {
    return { ok: false, status: "rejected", error: { message: response.message } };
  }
  if (response.ok) {
    return { ok: true, status: response.result ?? "created", plant: response.plant };
  }
  const { error, requestId } = response;
  const status = failedSteps.has(toNextStep(error.error)) ? "failed" : "rejected";
  return { ok: false, status, error, requestId };
}

/** Steps after which a retry may succeed. */
const failedSteps: ReadonlySet<NextStep> = new Set<NextStep>(["later", "resend", "retry"]);

export function isSendable(plant: PlantItem["plant"]): plant is NewPlant {
  return !("message" in plant);
}

/** The result of an item that is not sent. */
export function toLocalResult(plant: PlantItem["plant"]): ItemResult {
  return isSendable(plant)
    ? { ok: true, status: "valid", plant }
    : { ok: false, status: "rejected", error: plant };
}

/** The response that stopped `createMany`, because every other create would get the same Error, or `list`. */
export type StopCause = ErrorResponse & { readonly attempts: number };

/** Checks for a failure before the connection was open, which every other request would meet too. */
export function isUnreachable({ reason }: UnavailableError): boolean {
  return reason === "refused" || reason === "unknownHost" || reason === "insecure";
}

/**
 * Thrown after all results when every other create would fail as well, for example because the token is rejected, and if a
 * page of plants cannot be listed.
 */
export class StoppedError extends Error {
  override readonly name = "StoppedError";
  /** The response with the Error. */
  override readonly cause: StopCause;

  /** @param consequence begins the message */
  constructor(cause: StopCause, consequence = "every other create would fail as well") {
    const { error, retryAfterS } = cause;
    super([`${consequence}: ${error.message}`, ...toWaitDetails(retryAfterS)].join("; it "));
    this.cause = cause;
  }
}
