/** Errors of a create without a response of a plant store, and what a client has to do after an Error. */
import { toEndpoint } from "../core/base-url.ts";
import { findErrorRow, type NextStep, toUsualStatus } from "../core/errors.ts";

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
 * No complete response of a plant store. The message says what happened and where. Except for `refused`, `unknownHost`
 * and `insecure`, the plant may have been created. The create can be repeated in any case (contract.md "The same id again").
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

  /**
   * @param url of the request
   * @param detail what the system or the proxy reported; part of the message
   */
  constructor(
    reason: UnavailableReason,
    url: string,
    detail: string,
    { attempts = 1, ...options }: ErrorOptions & { readonly attempts?: number | undefined } = {},
  ) {
    super(describe(reason, url, detail, attempts), options);
    this.reason = reason;
    this.url = url;
    this.detail = detail;
    this.attempts = attempts;
  }
}

function describe(
  reason: UnavailableReason,
  url: string,
  detail: string,
  attempts: number,
): string {
  const origin = URL.canParse(url) ? toEndpoint(url).origin : url;
  const after = attempts > 1 ? ` after ${attempts} attempts` : "";
  switch (reason) {
    case "refused":
      return `cannot connect to ${origin}${after}: ${detail === "ECONNREFUSED" ? "connection refused" : detail}`;
    case "unknownHost":
      return `cannot resolve the host of ${origin}${after} (${lookupReasons[detail] ?? detail})`;
    case "insecure":
      return `no secure connection to ${origin}${after}: ${detail}`;
    case "timeout":
      return `no complete response from ${origin}${after} (${detail})`;
    case "lost":
      return `lost the connection to ${origin}${after} (${detail})`;
    case "gateway":
      return `a proxy at ${origin} responded instead of the plant store${after} (${detail})`;
  }
}

/** Reasons by the code of a failed name lookup. */
const lookupReasons: Readonly<Record<string, string>> = {
  EAI_AGAIN: "no name server responded",
  ENOTFOUND: "unknown name",
};

/** A response that no plant store sends. The message says what it was and where it came from. */
export class NotAPlantStoreError extends Error {
  override readonly name = "NotAPlantStoreError";
  /** URL of the request. */
  readonly url: string;

  constructor(url: string, detail: string, options?: ErrorOptions) {
    super(`${url} is not the create operation of a plant store: ${detail}`, options);
    this.url = url;
  }
}

/**
 * - `tokenRejected`: the credential is missing or rejected
 * - `idTaken`: the id belongs to a different plant
 * - `invalidPlant`: the plant breaks a rule
 * - `noPlantStore`: the request does not fit the server, for example because of a wrong base path
 * - `unavailable`: a retry may succeed
 */
export type ErrorCategory =
  | "tokenRejected"
  | "idTaken"
  | "invalidPlant"
  | "noPlantStore"
  | "unavailable";

/** Returns the category of an Error. */
export function categorizeError(error: number): ErrorCategory {
  const row = findErrorRow(error);
  if (row !== undefined) return categoryByStep[row.next];
  const status = toUsualStatus(error);
  if (status >= 500 && status <= 599) return "unavailable";
  return categoryByStatus[status] ?? "invalidPlant";
}

/** Checks whether every other create would get the same Error. */
export function concernsAllCreates(error: number): boolean {
  const category = categorizeError(error);
  return category === "tokenRejected" || category === "noPlantStore";
}

const categoryByStep: Readonly<Record<NextStep, ErrorCategory>> = {
  fix: "invalidPlant",
  token: "tokenRejected",
  conflict: "idTaken",
  server: "noPlantStore",
  later: "unavailable",
  retry: "unavailable",
  retryAfter: "unavailable",
};

/** For numbers that are not in the table: those of a later version. */
const categoryByStatus: Readonly<Record<number, ErrorCategory>> = {
  401: "tokenRejected",
  404: "noPlantStore",
  405: "noPlantStore",
  408: "unavailable",
  409: "idTaken",
  414: "noPlantStore",
  417: "noPlantStore",
  431: "noPlantStore",
};
