/** Maps each request to a response: route, credential, operation, and what every response has. Knows nothing of sockets. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorKind, errorTable, RequestError } from "../core/errors.ts";
import { tokenCheckHeader } from "../core/contract.ts";
import type { Admission } from "./admission.ts";
import { createCorsPolicy } from "./cors.ts";
import { describeFailure, serverStarting, serverStopping } from "./failure.ts";
import { createOperations } from "./operations.ts";
import { findTraceId, toRequestId } from "./ops/request-record.ts";
import type { PlantServerOptions, ServerBackend } from "./options.ts";
import type { ReadinessCheck } from "./readiness.ts";
import type { HttpRequest } from "./request.ts";
import { type HttpMessage, type RequestResult, toErrorResponse, toMessage } from "./response.ts";
import { createRouter, toPath } from "./routes.ts";

/** Handles requests. */
export interface Handler {
  /**
   * Performs the operation of a request. This call decides everything that is known when the request has arrived.
   *
   * @returns never rejects: failures are results
   */
  handle(request: HttpRequest): Promise<RequestResult>;
  /**
   * Completes a result with what every response has, and reports the request.
   *
   * @param request undefined for bytes that are not a request
   * @param atMs in milliseconds of `performance.now()`
   * @param isAborted true if the client has closed the connection
   * @param connectionHeaders from `toConnectionHeaders`; empty for a transport without connections
   */
  complete(
    request: HttpRequest | undefined,
    result: RequestResult,
    atMs: number,
    isAborted: boolean,
    connectionHeaders: string,
  ): HttpMessage;
}

/** Dependencies of the handler. */
export interface HandlerOptions extends Omit<PlantServerOptions, "port" | "socketPath"> {
  /** URL under which the server is reached over HTTP, including the base path. */
  readonly url: string;
  readonly admission: Admission;
  /** Undefined while the server starts. */
  readonly backend: () => ServerBackend | undefined;
  /** Resolves once the server has started, or with the error of a server that stops before. */
  readonly started: Promise<RequestError | undefined>;
  readonly checkReadiness: ReadinessCheck;
}

/** Maximum number of requests that wait for the start. */
const maxWaiting = 256;

/** Creates the handler of a server. */
export function createHandler(options: HandlerOptions): Handler {
  const { basePath, onError, onResponse, requestTimeoutMs, started, statusMode } = options;
  let waiting = 0;
  const addCors = createCorsPolicy(options.corsOrigins ?? []);
  const findRoute = createRouter(basePath, createOperations(options), addCors !== undefined);

  function perform(request: HttpRequest): RequestResult | Promise<RequestResult> {
    const route = request.error ?? findRoute(request);
    if (route instanceof RequestError) return route;
    const { operation, parameters } = route;
    request.operation = operation;
    const backend = options.backend();
    if (!route.needsToken) return route.perform(request, backend, parameters);
    const digest = request.checks.tokenDigest;
    if (digest instanceof RequestError) return digest;
    if (backend === undefined) return waitForStart(request);
    const { authenticator } = backend;
    if (!authenticator.isFresh(digest, request.receivedAtMs)) {
      return authenticator.refresh().then(() => perform(request));
    }
    const error = authenticator.check(digest);
    if (error !== undefined) return error;
    request.checks.acceptCredential();
    return request.isLate ? serverStopping : route.perform(request, backend, parameters);
  }

  async function waitForStart(request: HttpRequest): Promise<RequestResult> {
    if (waiting === maxWaiting) return serverStarting;
    waiting++;
    // Far less than the time after which a connection without input or output is closed.
    const timeout = sleep(requestTimeoutMs / 2, serverStarting, { ref: false });
    const error = await Promise.race([started, timeout]);
    waiting--;
    return error ?? perform(request);
  }

  return {
    async handle(request) {
      try {
        return await perform(request);
      } catch (error) {
        onError(error);
        return describeFailure(error);
      }
    },
    complete(request, result, atMs, isAborted, connectionHeaders) {
      const isError = result instanceof RequestError;
      const bare = isError ? toErrorResponse(result, statusMode) : result;
      const response = addCors?.(bare, request?.headers["origin"]?.[0]) ?? bare;
      const requestId = toRequestId(request?.headers ?? {});
      const message = toMessage(response, requestId, connectionHeaders);
      const receivedAtMs = request?.receivedAtMs ?? atMs;
      const { commit } = response;
      try {
        onResponse?.({
          method: request?.method,
          path: request && toPath(request.target),
          operation: isTokenCheck(request, result) ? "probe" : request?.operation,
          status: response.status,
          error: response.error,
          result: response.result,
          durationMs: atMs - receivedAtMs,
          durableMs: commit === undefined ? undefined : commit.durableAtMs - receivedAtMs,
          commitWaitMs: commit?.waitMs,
          batch: commit?.plants,
          bytes: request?.method === "HEAD" ? 0 : message.bodyBytes,
          requestId,
          traceId: request && findTraceId(request.headers),
          isAborted,
          isDropped: response.isDropped === true && !isAborted,
        });
      } catch (bug) {
        onError(bug);
      }
      return message;
    },
  };
}

/** Returns whether a check of a token gets this error. With another one, a create with its header is logged as a create. */
function isTokenCheckError(kind: ErrorKind): boolean {
  return kind === "idMissing" || errorTable[kind].next === "token";
}

function isTokenCheck(request: HttpRequest | undefined, result: RequestResult): boolean {
  const isRejected = result instanceof RequestError && isTokenCheckError(result.kind);
  const isCreate = request?.operation === "create";
  return isRejected && isCreate && request.headers[tokenCheckHeader] !== undefined;
}
