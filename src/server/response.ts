/** Responses as values: plants, errors and failures as status, headers and body. */
import { CredentialError } from "../auth/token.ts";
import { resultHeader } from "../core/contract.ts";
import { errorTable, RequestError, type StatusMode, toStatus } from "../core/errors.ts";
import { type Plant, toPlantJson } from "../core/plant.ts";
import { StoreError, type SuccessfulResult } from "../core/store.ts";

/** A response to a request. */
export interface ServerResponse {
  readonly status: number;
  readonly body: string;
  /** Media type; JSON if absent. */
  readonly contentType?: string;
  /** Header lines in addition to those that every response has, each with its line break. */
  readonly headers: string;
  /** Error number of an Error body. */
  readonly error?: number;
  /** Result of a create. */
  readonly result?: SuccessfulResult;
  /** Commit of a plant that is stored. */
  readonly commit?: PlantCommit;
  /** See {@link isDropped}. */
  readonly isDropped?: true;
}

/** Result of a request: the handler completes it. */
export type RequestResult = ServerResponse | RequestError;

/** Returns whether the transport closes the connection instead of sending the response. */
export function isDropped(result: RequestResult): boolean {
  return !(result instanceof RequestError) && result.isDropped === true;
}

/** The commit that made a plant durable. */
export interface PlantCommit {
  /** In milliseconds of `performance.now()`. */
  readonly durableAtMs: number;
  /** Time for which the plant waited for it. */
  readonly waitMs: number;
  /** Number of plants in the commit. */
  readonly plants: number;
}

/** A response in the form that is sent. */
export interface HttpMessage {
  readonly status: number;
  /** Header lines, each with its line break. */
  readonly headers: string;
  readonly body: string;
  /** Length of the body, in bytes of UTF-8. */
  readonly bodyBytes: number;
}

/** Response to a create whose plant is stored (contract.md "Given"). */
export function toPlantResponse(
  plant: Plant,
  result: SuccessfulResult,
  commit: PlantCommit,
): ServerResponse {
  return { status: 200, body: toPlantJson(plant), headers: resultHeaders[result], result, commit };
}

const resultHeaders = {
  created: toHeader(resultHeader, "created"),
  unchanged: toHeader(resultHeader, "unchanged"),
  replaced: toHeader(resultHeader, "replaced"),
} as const;

/**
 * Response of the health checks.
 *
 * @param isVolatile true if plants exist only in the memory of the server, which the response then says
 */
export function toStatusResponse(status: "ok" | "ready", isVolatile = false): ServerResponse {
  const body = JSON.stringify({ status, ...(isVolatile && { store: "memory" }) });
  return { status: 200, body, headers: "" };
}

/** Response to OPTIONS. */
export function toOptionsResponse(allow: string): ServerResponse {
  return { status: 204, body: "", headers: toHeader("Allow", allow) };
}

/** Response to a rejected or failed request. */
export function toErrorResponse(
  error: RequestError,
  mode: StatusMode = "contract",
): ServerResponse {
  const body = JSON.stringify({ error: error.error, message: error.message });
  const status = toStatus(error.kind, mode);
  return { status, body, headers: toErrorHeaders(error), error: error.error };
}

function toErrorHeaders(error: RequestError): string {
  if (error instanceof CredentialError) return toHeader("WWW-Authenticate", error.challenge);
  if (error instanceof MethodError) return toHeader("Allow", error.allow);
  // A test need not wait.
  if (error === injectedFailure) return toHeader("Retry-After", "0");
  return errorTable[error.kind].next === "retryAfter" ? toHeader("Retry-After", "1") : "";
}

/** A header line. The value is our own text or was validated. */
export function toHeader(name: string, value: string): string {
  return `${name}: ${value}\r\n`;
}

/**
 * Completes a response with the headers that every response has.
 *
 * @param connectionHeaders from {@link toConnectionHeaders}; empty for a transport without connections
 */
export function toMessage(
  { status, body, contentType = "application/json", headers }: ServerResponse,
  requestId: string,
  connectionHeaders: string,
): HttpMessage {
  const bodyBytes = Buffer.byteLength(body);
  // 204 has no content, not even an empty one (RFC 9110 section 8.6).
  const content =
    status === 204 ? "" : `Content-Type: ${contentType}\r\nContent-Length: ${bodyBytes}\r\n`;
  return {
    status,
    headers: `${content}Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${requestId}\r\n${headers}Date: ${toDate()}\r\n${connectionHeaders}`,
    body,
    bodyBytes,
  };
}

/**
 * Returns the headers about the connection.
 *
 * @param keepAliveSeconds time for which an idle connection stays open; undefined if the connection closes
 */
export function toConnectionHeaders(keepAliveSeconds: number | undefined): string {
  return keepAliveSeconds === undefined
    ? "Connection: close\r\n"
    : `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`;
}

/** The names and values of a message's headers. */
export function toHeaderPairs({ headers }: HttpMessage): [name: string, value: string][] {
  return headers
    .trimEnd()
    .split("\r\n")
    .map((line) => {
      const end = line.indexOf(": ");
      return [line.slice(0, end), line.slice(end + 2)];
    });
}

let lastSecond = 0;
let lastDate = "";

/** The current date in the format of RFC 9110 section 5.6.7, formatted once a second. */
function toDate(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastDate = new Date(nowMs).toUTCString();
  }
  return lastDate;
}

/** Error for a request that comes before the server has its store. */
export const serverStarting = new RequestError("overloaded", "the server is starting: try again");

/** Error for a request that comes after the server began to stop. */
export const serverStopping = new RequestError("shuttingDown", "the server is stopping: try again");

/** Error for a create that fails on demand. */
export const injectedFailure = new RequestError(
  "overloaded",
  "a fault for tests of clients: try again",
);

/** A request with a method that its path does not support. */
export class MethodError extends RequestError {
  /** Value of the Allow header (RFC 9110 section 10.2.1). */
  readonly allow: string;

  constructor(message: string, allow: string) {
    super("noSuchMethod", message);
    this.allow = allow;
  }
}

/** Describes a failure without its details, which may name paths of the machine. */
export function describeFailure(error: unknown): RequestError {
  switch (error instanceof StoreError ? error.reason : undefined) {
    case "full":
    case "readOnly":
      return new RequestError("storageFull", "the storage is full or read-only: try again later");
    case "busy":
      return new RequestError("overloaded", "the storage is busy: try again");
    case "closed":
      return serverStopping;
    default:
      return new RequestError("unexpected", "the server failed unexpectedly: try again");
  }
}
