/** Maps each request to a response: route, credential, operation, CORS (contract.md "HTTP"). Knows nothing of sockets. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ContractOperationId,
  contractOperations,
  type OperationId,
  operations,
  type OperationSet,
  resultHeader,
  tokenCheckHeader,
} from "../core/contract.ts";
import { errorRows, errorTable, type HeaderPairs, RequestError } from "../core/errors.ts";
import { quoteInput } from "../core/messages.ts";
import { readId } from "../core/parameters.ts";
import { int64Min } from "../core/plant.ts";
import type { ServerLimits } from "./admission.ts";
import {
  type AcceptedCall,
  createOperations,
  type OperationFunctions,
  type OperationOptions,
  type ServerBackend,
} from "./operations.ts";
import {
  createCredentialReader,
  findTraceId,
  type RequestRecord,
  type ServerRequest,
  toPath,
  toRequestId,
} from "./request.ts";
import {
  type CompleteResponse,
  describeSystemFailure,
  outcomeUnknown,
  type RoutedOperation,
  serverStarting,
  serverStopping,
  type ServerResponse,
  toCompleteResponse,
  toErrorResponse,
  toOptionsResponse,
} from "./response.ts";

type ServerAuthenticator = ServerBackend["authenticator"];

/** A request with its operation and its credential. */
export class ReceivedCall<Request extends ServerRequest = ServerRequest> implements AcceptedCall {
  readonly request: Request;
  readonly route: Route;
  readonly digest: string | RequestError;
  /** True if the server, as far as it knows now, accepts the credential. */
  isTrusted: boolean;
  isChanging = false;

  constructor(
    request: Request,
    route: Route,
    digest: string | RequestError,
    authenticator: ServerAuthenticator | undefined,
  ) {
    this.request = request;
    this.route = route;
    this.digest = digest;
    // Creates may wait for the start, and are checked afterwards.
    this.isTrusted = !(digest instanceof RequestError) && authenticator?.accepts(digest) !== false;
  }

  checkAgain({ authenticator }: ServerBackend) {
    const { digest } = this;
    if (digest instanceof RequestError) return digest;
    const askedAtMs = performance.now();
    const isFresh = authenticator.isFresh(digest, askedAtMs);
    return isFresh
      ? this.#check(digest, authenticator)
      : this.#refresh(digest, authenticator, askedAtMs);
  }

  async #refresh(digest: string, authenticator: ServerAuthenticator, askedAtMs: number) {
    while (!authenticator.isFresh(digest, askedAtMs)) await authenticator.refresh();
    return this.#check(digest, authenticator);
  }

  #check(digest: string, authenticator: ServerAuthenticator): RequestError | undefined {
    const { request, route } = this;
    if (route.needs === undefined) return undefined;
    const error = authenticator.check(digest, route.operation);
    this.isTrusted = error === undefined || authenticator.accepts(digest);
    return error ?? request.client.givenUp;
  }
}

/** Handles requests. */
export interface Handler {
  /** Finds the operation and the credential of a request. */
  receive<Request extends ServerRequest>(request: Request): ReceivedCall<Request>;
  /** Performs the operation of a request. Never rejects: failures are responses. */
  handle(call: ReceivedCall): Promise<CompleteResponse>;
  /** Returns the response to bytes that are not a request. */
  reject(error: RequestError): CompleteResponse;
  /** Returns the response to a request that the stop gives up. */
  giveUp(call: ReceivedCall): CompleteResponse;
  /**
   * Reports a request when its response is sent.
   *
   * @param request undefined for bytes that are not a request
   * @param isAborted true if the client has left
   */
  report(request: ServerRequest | undefined, response: CompleteResponse, isAborted: boolean): void;
}

/** Options for {@link createHandler}. */
export interface HandlerOptions extends OperationOptions, Pick<ServerLimits, "requestTimeoutMs"> {
  /** Origins that may use the server from a browser, as it writes them, or `*`. */
  readonly corsOrigins?: readonly string[];
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
  const { onError, onResponse, requestTimeoutMs, started, statusMode } = options;
  let waiting = 0;
  const addCors = createCorsPolicy(options);
  const readCredential = createCredentialReader();
  const findRoute = createRouter(options, createOperations(options), addCors !== undefined);

  async function perform(call: ReceivedCall): Promise<ServerResponse | RequestError> {
    const { digest, request, route } = call;
    if (route.needs === undefined) return route.perform(request, options.backend());
    if (digest instanceof RequestError) return digest;
    const backend = options.backend() ?? (await waitForStart());
    if (backend instanceof RequestError) return backend;
    const checked = call.checkAgain(backend);
    const error = checked instanceof Promise ? await checked : checked;
    if (error !== undefined) return error;
    // A promise of a promise takes three turns of the microtask queue.
    const result = await route.perform(call, backend);
    return result;
  }

  async function waitForStart(): Promise<ServerBackend | RequestError> {
    if (waiting === maxWaiting) return serverStarting;
    waiting++;
    const timeout = sleep(requestTimeoutMs / 2, serverStarting, { ref: false });
    const error = await Promise.race([started, timeout]);
    waiting--;
    return error ?? options.backend() ?? serverStarting;
  }

  function complete(
    result: ServerResponse | RequestError,
    request?: ServerRequest,
    operation?: RoutedOperation,
  ): CompleteResponse {
    const bare = result instanceof RequestError ? toErrorResponse(result, statusMode) : result;
    const response = addCors?.(bare, request?.headers["origin"], operation) ?? bare;
    return toCompleteResponse(response, toRequestId(request?.headers), operation);
  }

  return {
    receive(request) {
      const found = request.error ?? findRoute(request);
      const route =
        found instanceof RequestError ? { operation: undefined, perform: () => found } : found;
      const { authenticator } = options.backend() ?? {};
      return new ReceivedCall(request, route, readCredential(request), authenticator);
    },
    async handle(call) {
      const { request, route } = call;
      try {
        return complete(await perform(call), request, route.operation);
      } catch (error) {
        onError(error);
        return complete(describeSystemFailure(error), request, route.operation);
      }
    },
    reject: (error) => complete(error),
    giveUp({ isChanging, request, route }) {
      const error = isChanging ? outcomeUnknown : serverStopping;
      return complete(error, request, route.operation);
    },
    report(request, response, isAborted) {
      const { commit, status, error, result, lost } = response;
      const atMs = performance.now();
      const receivedAtMs = request?.receivedAtMs ?? atMs;
      try {
        onResponse?.({
          method: request?.method,
          path: request && toPath(request.target),
          operation: isTokenCheck(request, response) ? "probe" : response.operation,
          status,
          error,
          result,
          durationMs: atMs - receivedAtMs,
          durableMs: commit === undefined ? undefined : commit.durableAtMs - receivedAtMs,
          commitWaitMs: commit?.waitMs,
          batch: commit?.plants,
          bytes: request?.method === "HEAD" ? 0 : response.bodyBytes,
          requestId: response.requestId,
          traceId: request && findTraceId(request),
          isAborted,
          isDropped: lost !== undefined && !isAborted,
        });
      } catch (bug) {
        onError(bug);
      }
    },
  };
}

/** Errors that a check of a token can get. With any other, a create that has its header is logged as a create. */
const tokenCheckErrors = new Set<number>(
  errorRows
    .filter(({ error, next }) => error === errorTable.idMissing.error || next === "token")
    .map(({ error }) => error),
);

function isTokenCheck(
  request: ServerRequest | undefined,
  { operation, error = 0 }: CompleteResponse,
): boolean {
  const hasHeader = request?.headers[tokenCheckHeader] !== undefined;
  return hasHeader && operation === "create" && tokenCheckErrors.has(error);
}

/** The operation of a request; none for one that is rejected. */
type Route =
  | {
      readonly operation: ContractOperationId;
      readonly needs: (typeof operations)[ContractOperationId]["needs"];
      readonly perform: OperationFunctions["contract"]["create"];
    }
  | {
      readonly operation: RoutedOperation | undefined;
      readonly needs?: undefined;
      readonly perform: NonNullable<OperationFunctions["others"]["health"]>;
    };

/** The routes of a path, by method. */
type Routes = Map<string, Route>;

interface RouterOptions {
  /** Prefix of the operations that need a token, and of no other path. */
  readonly basePath: string;
  /** By default `create`. */
  readonly operations?: OperationSet | undefined;
}

/**
 * Creates the router.
 *
 * @param functions operations without a function do not exist
 * @param hasOptions adds OPTIONS to each path, for CORS preflights
 * @returns a function that returns the route, or a RequestError `noSuchPath` or `noSuchMethod`
 */
function createRouter(
  { basePath, operations: set = "create" }: RouterOptions,
  { contract, others }: OperationFunctions,
  hasOptions: boolean,
) {
  const paths = new Map<string, Routes>();
  const add = (id: OperationId, prefix: string, route: Route): void => {
    const { method, path } = operations[id];
    const routes: Routes = paths.get(prefix + path) ?? new Map();
    paths.set(prefix + path, routes.set(method, route));
    if (method === "GET") routes.set("HEAD", route);
  };
  for (const id of contractOperations[set]) {
    const { needs } = operations[id];
    add(id, basePath, { operation: id, needs, perform: contract[id] });
  }
  for (const [id, perform] of Object.entries(others)) {
    if (perform) add(id as OperationId, "", { operation: id as OperationId, perform });
  }
  for (const routes of hasOptions ? paths.values() : []) {
    const perform = () => toOptionsResponse(toAllow(routes));
    routes.set("OPTIONS", { operation: "options", perform });
  }
  const createPath = basePath + operations.create.path;
  const onePlantPath = basePath + operations.delete.path;
  const onePlant = paths.get(onePlantPath);
  paths.delete(onePlantPath);
  const page = paths.get(operations.page.path);

  return ({ method, target, headers }: ServerRequest): Route | RequestError => {
    const text = toPath(target);
    const id = text.startsWith(`${createPath}/`) ? text.slice(createPath.length + 1) : "/";
    // DELETE /plants/ lacks its id. With a method that has none, as in POST /plants/, the path is unknown.
    const isOnePlant = !id.includes("/") && (id !== "" || onePlant?.has(method) === true);
    // Browsers get the page at the root as well; other clients get 40400 there.
    const isRootPage =
      text === "/" && page?.has(method) === true && headers["accept"]?.includes("text/html");
    const routes = isRootPage ? page : isOnePlant ? onePlant : paths.get(text);
    if (routes === undefined) {
      const isList = set === "all" && method === operations.list.method;
      const verb = isList ? "list plants with GET" : "create plants with POST";
      const message = `unknown path "${quoteInput(text, 80)}": ${verb} ${createPath}`;
      return new RequestError("noSuchPath", message);
    }
    const route = routes.get(method);
    if (route === undefined) {
      const allow = toAllow(routes);
      const path = isOnePlant ? onePlantPath : text;
      const isRead = isOnePlant && (method === "GET" || method === "HEAD");
      const instead = isRead ? toPageOf(id, createPath) : "";
      const message = `method ${quoteInput(method)} is not allowed on ${path}: send ${allow}${instead}`;
      return new RequestError("noSuchMethod", message, { headers: [["Allow", allow]] });
    }
    return route;
  };
}

/** Returns which page has the plant of an id alone; empty for an invalid id. */
function toPageOf(segment: string, path: string): string {
  const id = readId(segment);
  if (id instanceof RequestError) return "";
  const after = id === int64Min ? "" : `after=${id - 1n}&`;
  return `, or GET ${path}?${after}limit=1`;
}

function toAllow(routes: Routes): string {
  return [...routes.keys()].join(", ");
}

/** Adds the headers that a page of this origin needs to read a response. */
type CorsPolicy = (
  response: ServerResponse,
  origin: string | undefined,
  operation: RoutedOperation | undefined,
) => ServerResponse;

/** Response headers that a page may read. */
const exposedHeaders = `${resultHeader}, X-Request-Id, Retry-After, WWW-Authenticate`;
/** Request headers that a page may send. The token is a header, so credentials of the browser are not needed. */
const requestHeaders =
  "Authorization, Content-Type, X-Request-Id, Traceparent, Tracestate, Baggage, Sentry-Trace";
/** Seconds for which a browser may cache a preflight response; browsers allow little more. */
const maxAge = "7200";

/** Creates the policy of a server. @returns undefined without origins: responses then have no CORS headers */
function createCorsPolicy({
  corsOrigins: origins = [],
  operations: set,
}: Pick<HandlerOptions, "corsOrigins" | "operations">): CorsPolicy | undefined {
  if (origins.length === 0) return undefined;
  const exposed = set === "all" ? `${exposedHeaders}, Link` : exposedHeaders;
  const isAny = origins.includes("*");
  const vary: HeaderPairs = isAny ? [] : [["Vary", "Origin"]];
  return (response, origin, operation) => {
    const allowed = isAny ? "*" : origins.find((each) => each === origin);
    if (allowed === undefined) return { ...response, headers: [...response.headers, ...vary] };
    const cors =
      operation === "options"
        ? toPreflightHeaders(response)
        : [["Access-Control-Expose-Headers", exposed] as const];
    const allowOrigin = ["Access-Control-Allow-Origin", allowed] as const;
    return { ...response, headers: [...response.headers, ...vary, allowOrigin, ...cors] };
  };
}

/** A browser sends OPTIONS as a preflight: may it send the request? */
function toPreflightHeaders({ headers }: ServerResponse): HeaderPairs {
  const methods = headers.find(([name]) => name === "Allow")?.[1] ?? "";
  return [
    ["Access-Control-Allow-Methods", methods],
    ["Access-Control-Allow-Headers", requestHeaders],
    ["Access-Control-Max-Age", maxAge],
  ];
}
