/** Maps each request to a response: route, credential, operation, CORS (contract.md "HTTP"). Knows nothing of sockets. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  isContractOperation,
  type OperationId,
  operations,
  resultHeader,
  tokenCheckHeader,
} from "../core/contract.ts";
import { type ErrorKind, errorTable, RequestError } from "../core/errors.ts";
import { quoteInput } from "../core/messages.ts";
import type { ServerLimits } from "./admission.ts";
import {
  createOperations,
  type OperationFunctions,
  type OperationOptions,
  type Perform,
  type ServerBackend,
} from "./operations.ts";
import {
  findTraceId,
  type RequestHead,
  type RequestRecord,
  type ServerRequest,
  toPath,
  toRequestId,
} from "./request.ts";
import {
  describeFailure,
  type HttpMessage,
  type ServerResponse,
  MethodError,
  type RequestResult,
  serverStarting,
  serverStopping,
  toErrorResponse,
  toHeader,
  toMessage,
  toOptionsResponse,
} from "./response.ts";

/** Handles requests. */
export interface Handler {
  /**
   * Performs the operation of a request. This call decides everything that is known when the request has arrived.
   *
   * @returns never rejects: failures are results
   */
  handle(request: ServerRequest): Promise<RequestResult>;
  /** Returns whether nothing in the head of a create is rejected, as far as is known without reading the tokens again. */
  isWelcome(head: RequestHead): boolean;
  /**
   * Completes a result with what every response has, and reports the request.
   *
   * @param request undefined for bytes that are not a request
   * @param atMs in milliseconds of `performance.now()`
   * @param isAborted true if the client has closed the connection
   * @param connectionHeaders from `toConnectionHeaders`; empty for a transport without connections
   */
  complete(
    request: ServerRequest | undefined,
    result: RequestResult,
    atMs: number,
    isAborted: boolean,
    connectionHeaders: string,
  ): HttpMessage;
}

/** Options for {@link createHandler}. */
export interface HandlerOptions extends OperationOptions, Pick<ServerLimits, "requestTimeoutMs"> {
  /** Origins that may use the server from a browser, or `*`. */
  readonly corsOrigins?: readonly string[];
  /** Receives every unexpected error and every failure of the store. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Receives a record of each request when its response is sent. */
  readonly onResponse?: ((record: RequestRecord) => void) | undefined;
  /** Undefined while the server starts. */
  readonly backend: () => ServerBackend | undefined;
  /** Resolves once the server has started, or with the error of a server that stops before. */
  readonly started: Promise<RequestError | undefined>;
}

/** Maximum number of requests that wait for the start. */
const maxWaiting = 256;

/** Creates the handler of a server. */
export function createHandler(options: HandlerOptions): Handler {
  const { basePath, maxBodyBytes, onError, onResponse, requestTimeoutMs, started, statusMode } =
    options;
  let waiting = 0;
  const addCors = createCorsPolicy(options.corsOrigins ?? []);
  const findRoute = createRouter(basePath, createOperations(options), addCors !== undefined);

  function perform(request: ServerRequest): RequestResult | Promise<RequestResult> {
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
    request.trustClient(error === undefined);
    if (error !== undefined) return error;
    request.checks.acceptCredential();
    return request.isLate ? serverStopping : route.perform(request, backend, parameters);
  }

  async function waitForStart(request: ServerRequest): Promise<RequestResult> {
    if (waiting === maxWaiting) return serverStarting;
    waiting++;
    // It may send as many creates as can wait. Its token is checked after the start.
    request.trustClient(true);
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
    isWelcome({ checks }) {
      const digest = checks.tokenDigest;
      const { authenticator } = options.backend() ?? {};
      if (digest instanceof RequestError || authenticator === undefined) return false;
      return (
        authenticator.check(digest) === undefined && checks.checkBody(maxBodyBytes) === undefined
      );
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

function isTokenCheck(request: ServerRequest | undefined, result: RequestResult): boolean {
  const isRejected = result instanceof RequestError && isTokenCheckError(result.kind);
  const isCreate = request?.operation === "create";
  return isRejected && isCreate && request.headers[tokenCheckHeader] !== undefined;
}

/** The operation of a request. */
type Route = (
  | { readonly needsToken: true; readonly perform: Perform<ServerBackend> }
  | { readonly needsToken: false; readonly perform: Perform<ServerBackend | undefined> }
) & {
  readonly operation: ServerRequest["operation"];
  /** Segments for the parameters of the operation's path, as the client wrote them. */
  readonly parameters: Readonly<Record<string, string>>;
};

/** A path that exists, and its routes by method. */
interface Path {
  /** Has a group for each parameter. */
  readonly pattern: RegExp;
  readonly routes: Map<string, Route>;
}

/**
 * Creates the router.
 *
 * @param basePath prefix of the operations that need a token, and of no other path
 * @param functions operations without a function do not exist
 * @param hasOptions adds OPTIONS to each path, for CORS preflights
 * @returns a function that returns the route, or a RequestError `noSuchPath` or `noSuchMethod`
 */
function createRouter(
  basePath: string,
  functions: OperationFunctions,
  hasOptions: boolean,
): (request: Pick<ServerRequest, "method" | "target" | "headers">) => Route | RequestError {
  const paths = createPaths(basePath, functions, hasOptions);
  const page = paths.get(operations.page.path);
  const templates = [...paths].filter(([path]) => path.includes("{"));
  for (const [path] of templates) paths.delete(path);

  return ({ method, target, headers }) => {
    const text = toPath(target);
    // Browsers get the page at the root as well; for programs the root does not exist.
    const isRootPage =
      text === "/" &&
      page?.routes.has(method) === true &&
      (headers["accept"] ?? []).some((value) => value.includes("text/html"));
    const exact = isRootPage ? page : paths.get(text);
    const path = exact ?? templates.find(([, { pattern }]) => pattern.test(text))?.[1];
    if (path === undefined) {
      const createPath = basePath + operations.create.path;
      const message = `unknown path "${quoteInput(text, 80)}": create plants with POST ${createPath}`;
      return new RequestError("noSuchPath", message);
    }
    const { pattern, routes } = path;
    const route = routes.get(method);
    if (route === undefined) {
      const allow = toAllow(routes);
      const message = `method ${quoteInput(method)} is not allowed on ${text}: send ${allow}`;
      return new MethodError(message, allow);
    }
    return exact ? route : { ...route, parameters: pattern.exec(text)?.groups ?? {} };
  };
}

function createPaths(
  basePath: string,
  functions: OperationFunctions,
  hasOptions: boolean,
): Map<string, Path> {
  const paths = new Map<string, Path>();
  for (const [id, row] of Object.entries(operations)) {
    const route = toRoute(id as OperationId, functions);
    if (route === undefined) continue;
    const path = row.needsToken ? basePath + row.path : row.path;
    const routes = paths.get(path)?.routes ?? new Map<string, Route>();
    paths.set(path, { pattern: toPattern(path), routes: routes.set(row.method, route) });
    if (row.method === "GET") routes.set("HEAD", route);
  }
  for (const { routes } of hasOptions ? paths.values() : []) {
    const perform = () => toOptionsResponse(toAllow(routes));
    routes.set("OPTIONS", { operation: "options", parameters: {}, needsToken: false, perform });
  }
  return paths;
}

function toRoute(operation: OperationId, functions: OperationFunctions): Route | undefined {
  const parameters = {};
  if (isContractOperation(operation)) {
    return {
      operation,
      parameters,
      needsToken: true,
      perform: functions[operation],
    };
  }
  const perform = functions[operation];
  return perform && { operation, parameters, needsToken: false, perform };
}

function toAllow(routes: Path["routes"]): string {
  return [...routes.keys()].join(", ");
}

function toPattern(path: string): RegExp {
  const escaped = path.replace(/[$()*+.?[\\\]^|]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}

/** Adds the headers that a page of this origin needs to read a response. */
type CorsPolicy = (response: ServerResponse, origin: string | undefined) => ServerResponse;

/** Response headers that a page may read. */
const exposedHeaders = `${resultHeader}, X-Request-Id, Retry-After, WWW-Authenticate`;
/** Request headers that a page may send. The token is a header, so credentials of the browser are not needed. */
const requestHeaders = "Authorization, Content-Type, X-Request-Id, Traceparent, Tracestate";
/** Seconds for which a browser may cache a preflight response; browsers allow little more. */
const maxAge = "7200";

/**
 * Creates the policy for a list of origins.
 *
 * @param origins as a browser writes them, or `*` for any
 * @returns undefined for an empty list: responses then have no CORS headers
 */
function createCorsPolicy(origins: readonly string[]): CorsPolicy | undefined {
  if (origins.length === 0) return undefined;
  if (origins.includes("*")) {
    return (response) => withHeaders(response, toCorsHeaders(response, "*"));
  }
  const allowed = new Set(origins);
  return (response, origin) => {
    const isAllowed = origin !== undefined && allowed.has(origin);
    const headers = isAllowed ? toCorsHeaders(response, origin) : "";
    return withHeaders(response, toHeader("Vary", "Origin") + headers);
  };
}

function withHeaders(response: ServerResponse, headers: string): ServerResponse {
  return { ...response, headers: response.headers + headers };
}

/** A browser sends a preflight with OPTIONS, whose response has status 204. */
function toCorsHeaders({ status, headers }: ServerResponse, origin: string): string {
  const allowOrigin = toHeader("Access-Control-Allow-Origin", origin);
  if (status !== 204) {
    return allowOrigin + toHeader("Access-Control-Expose-Headers", exposedHeaders);
  }
  const [, allow = ""] = /^Allow: (.*)/m.exec(headers) ?? [];
  return (
    allowOrigin +
    toHeader("Access-Control-Allow-Methods", allow) +
    toHeader("Access-Control-Allow-Headers", requestHeaders) +
    toHeader("Access-Control-Max-Age", maxAge)
  );
}
