/** What those who run the server are told of a request: nothing of its headers, its query or its body. */
import type { Exchange } from "../exchange/exchange.ts";
import type { Answer } from "../exchange/reply.ts";
import { type Operation, toPath } from "../exchange/routes.ts";

/** One request and what it was answered. */
export interface ExchangeRecord {
  /** Absent, as the path is, when no request could be understood. */
  readonly method?: string | undefined;
  /** As the client wrote it, without the query. */
  readonly path?: string | undefined;
  /** Absent when there is none at this path. */
  readonly operation?: Operation | undefined;
  readonly status: number;
  /** The number of an Error. */
  readonly error?: number | undefined;
  /** What became of a plant that was created. */
  readonly result?: string | undefined;
  /** From the head of the request to its answer. */
  readonly durationMs: number;
  /** Of the answer's body; none to HEAD, whatever its length is said to be. */
  readonly bytes: number;
  readonly requestId: string;
  /** The client was gone before it could be answered. */
  readonly isAborted: boolean;
}

/**
 * The record of a request that was understood.
 *
 * @param bytes of the answer's body
 */
export function toExchangeRecord(
  exchange: Exchange,
  answer: Answer,
  bytes: number,
): ExchangeRecord {
  const { request, operation, requestId, startedAtMs } = exchange;
  return {
    method: request.method,
    path: toPath(request.url ?? ""),
    operation,
    status: answer.status,
    error: answer.error,
    result: answer.result,
    durationMs: performance.now() - startedAtMs,
    bytes: request.method === "HEAD" ? 0 : bytes,
    requestId,
    isAborted: request.socket.destroyed,
  };
}

/** The record of what could not be understood. */
export function toUnreadRecord(answer: Answer, requestId: string): ExchangeRecord {
  const { status, error, body } = answer;
  const bytes = Buffer.byteLength(body);
  return { status, error, durationMs: 0, bytes, requestId, isAborted: false };
}
