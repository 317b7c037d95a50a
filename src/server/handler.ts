/** Maps each request to a response: routing, authentication and the operations. Knows nothing of sockets. */
import { RequestError } from "../core/errors.ts";
import { type PlantStore, StoreError } from "../core/store.ts";
import type { Admission } from "./admission.ts";
import { createCorsPolicy } from "./cors.ts";
import { createPlant } from "./create-plant.ts";
import { createSelfDescription } from "./docs/self-description.ts";
import type { PlantServerOptions } from "./options.ts";
import type { HttpRequest } from "./request.ts";
import {
  type HttpResponse,
  toErrorResponse,
  toOptionsResponse,
  toStatusResponse,
} from "./response.ts";
import { createRouter, type Operation, type Route } from "./routes.ts";

/** The response to a request, and the operation that produced it. */
export interface HandledRequest {
  readonly response: HttpResponse;
  /** Undefined if the request was rejected before it was routed. */
  readonly operation: Operation | undefined;
}

/** Maps a request to a response. Rejects only because of a bug: failures are responses. */
export type Handler = (request: HttpRequest) => Promise<HandledRequest>;

/** Dependencies of the handler. */
export interface HandlerOptions extends Omit<PlantServerOptions, "port" | "socketPath"> {
  /** URL under which the server is reached over HTTP, including the base path. */
  readonly url: string;
  readonly admission: Admission;
  /** Phase of the server; creates get 50301 while it starts. */
  readonly phase: () => "starting" | "running" | "stopping";
}

/** Creates the handler of a server. */
export function createHandler(options: HandlerOptions): Handler {
  const { basePath, metrics, onError, phase, store } = options;
  const addCors = createCorsPolicy(options.corsOrigins ?? []);
  const findRoute = createRouter(basePath, {
    hasPage: options.docs ?? true,
    hasMetrics: metrics !== undefined,
    hasOptions: addCors !== undefined,
  });
  const checkWritable = createWritableCheck(store);
  const selfDescription = createSelfDescription(options);

  function perform(
    { operation, methods }: Route,
    request: HttpRequest,
  ): HttpResponse | RequestError | Promise<HttpResponse | RequestError> {
    const [host] = request.headers["host"] ?? [];
    switch (operation) {
      case "create":
        return phase() === "starting" ? serverStarting : createPlant(request, options);
      case "health":
        return toStatusResponse("ok");
      case "readiness":
        return checkReadiness();
      case "metrics":
        return showMetrics();
      case "description":
        return selfDescription.describe(host);
      case "page":
        return selfDescription.show(host);
      case "options":
        return toOptionsResponse(methods);
    }
  }

  async function showMetrics(): Promise<HttpResponse> {
    const body = (await metrics?.render()) ?? "";
    return { status: 200, body, contentType: metrics?.contentType ?? "text/plain", headers: "" };
  }

  async function checkReadiness(): Promise<HttpResponse> {
    if (phase() === "starting") return toErrorResponse(serverStarting, 503);
    if (phase() === "stopping") {
      const message = "the server is stopping: try another one";
      return toErrorResponse(new RequestError("shuttingDown", message), 503);
    }
    try {
      await checkWritable();
      return toStatusResponse("ready");
    } catch (error) {
      return toErrorResponse(toRequestError(error), 503);
    }
  }

  function toRequestError(error: unknown): RequestError {
    onError(error);
    return describeFailure(error);
  }

  return async (request) => {
    const route = request.error ?? findRoute(request);
    let result: HttpResponse | RequestError = serverStarting;
    let operation: Operation | undefined;
    if (route instanceof RequestError) {
      result = route;
    } else {
      ({ operation } = route);
      try {
        result = await perform(route, request);
      } catch (error) {
        result = toRequestError(error);
      }
    }
    const response = result instanceof RequestError ? toErrorResponse(result) : result;
    return { response: addCors?.(response, request.headers["origin"]?.[0]) ?? response, operation };
  };
}

const serverStarting = new RequestError("overloaded", "the server is starting: try again");

/** Describes a failure without its details, which may name paths of the machine. */
function describeFailure(error: unknown): RequestError {
  switch (error instanceof StoreError ? error.reason : undefined) {
    case "full":
      return new RequestError("storageFull", "the storage is full or read-only: try again later");
    case "busy":
      return new RequestError("overloaded", "the storage is busy: try again");
    case "closed":
      return new RequestError("shuttingDown", "the server is stopping: try again");
    default:
      return new RequestError("unexpected", "the server failed unexpectedly: try again");
  }
}

/** Requests may check readiness at any rate; the store is checked at most this often. */
const writableCheckMs = 1000;

function createWritableCheck(store: Pick<PlantStore, "checkWritable">): () => Promise<void> {
  let lastCheck: Promise<void> | undefined;
  return () => {
    if (lastCheck === undefined) {
      lastCheck = store.checkWritable();
      const forget = (): void => {
        setTimeout(() => (lastCheck = undefined), writableCheckMs).unref();
      };
      lastCheck.then(forget, forget);
    }
    return lastCheck;
  };
}
