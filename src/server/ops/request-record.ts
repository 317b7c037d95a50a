/** Describes a request and its response, for the log and the metrics. */
import type { HttpRequest } from "../request.ts";
import { toTraceId } from "../request-id.ts";
import type { HandledRequest } from "../response.ts";
import { type Operation, toPath } from "../routes.ts";

/** A request and its response: nothing of its headers, its query and its body, except for its ids. */
export interface RequestRecord {
  /** Absent, like the path, for bytes that are not a request. */
  readonly method?: string | undefined;
  /** As the client wrote it, without the query. */
  readonly path?: string | undefined;
  /** Absent for an unknown path. */
  readonly operation?: Operation | undefined;
  readonly status: number;
  /** Number of the Error. */
  readonly error?: number | undefined;
  /** Result of a create. */
  readonly result?: string | undefined;
  /** From the head of the request to its response. */
  readonly durationMs: number;
  /** From the head of the request to the time at which the plant was durable; absent unless the plant is stored. */
  readonly durableMs?: number | undefined;
  /** The part of {@link RequestRecord.durableMs} for which the plant waited for its commit. */
  readonly commitWaitMs?: number | undefined;
  /** Number of plants in that commit. */
  readonly batch?: number | undefined;
  /** Length of the response body; 0 for HEAD. */
  readonly bytes: number;
  readonly requestId: string;
  /** Trace of the client (W3C Trace Context). */
  readonly traceId?: string | undefined;
  /** True if the client closed the connection before the response. */
  readonly isAborted: boolean;
  /** True if the server closed the connection on purpose instead of sending the response. */
  readonly isDropped?: boolean | undefined;
}

/** A request as its transport knows it. Times are milliseconds of `performance.now()`. */
interface ReceivedRequest {
  /** Undefined for bytes that are not a request. */
  readonly request: HttpRequest | undefined;
  readonly requestId: string;
  readonly startedAtMs: number;
}

/** How the response was sent. */
interface SentResponse extends Pick<RequestRecord, "isAborted" | "isDropped"> {
  readonly atMs: number;
  readonly bodyBytes: number;
}

/** Describes a request and its response. Runs for every request. */
export function toRequestRecord(
  { request, requestId, startedAtMs }: ReceivedRequest,
  { response, operation }: HandledRequest,
  { atMs, bodyBytes, isAborted, isDropped }: SentResponse,
): RequestRecord {
  const { commit } = response;
  return {
    method: request?.method,
    path: request && toPath(request.target),
    operation,
    status: response.status,
    error: response.error,
    result: response.result,
    durationMs: atMs - startedAtMs,
    durableMs: commit === undefined ? undefined : commit.durableAtMs - startedAtMs,
    commitWaitMs: commit === undefined ? undefined : commit.durableAtMs - commit.requestedAtMs,
    batch: commit?.plants,
    bytes: request?.method === "HEAD" ? 0 : bodyBytes,
    requestId,
    traceId: request && toTraceId(request.headers),
    isAborted,
    isDropped,
  };
}
