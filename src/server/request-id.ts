/** Ids by which a request is found again: its own, and that of the trace it belongs to. */
import { randomBytes } from "node:crypto";
import type { HttpHeaders } from "./request.ts";

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

/**
 * Version, trace id, parent id and flags (W3C Trace Context section 3.2). Version 00 has no more than these 55 characters;
 * a later one may. Version ff, and ids of zeros, are invalid.
 */
const traceParent =
  /^(?!ff|00-.{53})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** Returns the trace id of the header traceparent. @returns undefined without exactly one valid header */
export function toTraceId(headers: HttpHeaders): string | undefined {
  const values = headers["traceparent"];
  return values?.length === 1 ? traceParent.exec(values[0] ?? "")?.[1] : undefined;
}
