/** What the log and the metrics learn about a request: nothing of its headers, its query and its body. */
import type { HttpRequest } from "../request.ts";
import type { HttpMessage, HttpResponse } from "../response.ts";
import { type Operation, toPath } from "../routes.ts";

/** One request and its response. */
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
  /** Length of the response body; 0 for HEAD. */
  readonly bytes: number;
  readonly requestId: string;
  /** Whether the client closed the connection before the response. */
  readonly isAborted: boolean;
}

/** What is known of a request when its response is sent. */
export interface RecordedRequest {
  readonly request?: HttpRequest | undefined;
  readonly requestId: string;
  readonly operation?: Operation | undefined;
  /** Time of the head, in milliseconds of `performance.now()`. */
  readonly startedAtMs: number;
  readonly isAborted?: boolean;
}

/** Creates the record of a request. */
export function toRequestRecord(
  { request, requestId, operation, startedAtMs, isAborted = false }: RecordedRequest,
  { bodyBytes }: HttpMessage,
  { status, error, result }: HttpResponse,
): RequestRecord {
  return {
    method: request?.method,
    path: request && toPath(request.target),
    operation,
    status,
    error,
    result,
    durationMs: performance.now() - startedAtMs,
    bytes: request?.method === "HEAD" ? 0 : bodyBytes,
    requestId,
    isAborted,
  };
}
