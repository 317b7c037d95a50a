/** Describes a request and its response, for the log and the metrics, with the ids by which it is found again. */
import { randomBytes } from "node:crypto";
import { toTraceId } from "../../core/contract.ts";
import type { HttpHeaders, HttpRequest } from "../request.ts";

/** A request and its response: nothing of its headers, its query and its body, except for its ids. */
export interface RequestRecord {
  /** Absent, like the path, for bytes that are not a request. */
  readonly method?: string | undefined;
  /** As the client wrote it, without the query. */
  readonly path?: string | undefined;
  /** Absent for an unknown path. `probe` is a create that only checked a token, named after its header. */
  readonly operation?: HttpRequest["operation"] | "probe";
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

/** Ids that are safe in a header, a log and a command line, and that cannot be mistaken for a token. */
const validRequestId = /^(?!.*pst_)[\w.:=+/@~-]{1,128}$/;
/** Differs between processes, so that ids of two servers differ. */
const requestIdPrefix = randomBytes(6).toString("hex");
let requestCount = 0;

/** Returns the first valid X-Request-Id of the client, or a new id. */
export function toRequestId(headers: HttpHeaders): string {
  const fromClient = headers["x-request-id"]?.find((value) => validRequestId.test(value));
  return fromClient ?? `${requestIdPrefix}-${(++requestCount).toString(36)}`;
}

/** Returns the trace id of the header traceparent. @returns undefined without exactly one valid header */
export function findTraceId({ traceparent: values }: HttpHeaders): string | undefined {
  return values?.length === 1 ? toTraceId(values[0] ?? "") : undefined;
}
