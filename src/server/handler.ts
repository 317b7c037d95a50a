/** Maps each request to a response: routing, authentication and the operations. Knows nothing of sockets. */
import { type ErrorKind, RequestError } from "../core/errors.ts";
import { tokenCheckHeader } from "../core/interface.ts";
import type { Admission } from "./admission.ts";
import { createCorsPolicy } from "./cors.ts";
import { createPlant } from "./create-plant.ts";
import { createSelfDescription } from "./docs/self-description.ts";
import { describeFailure, serverStarting } from "./failure.ts";
import type { PlantServerOptions, ServerBackend } from "./options.ts";
import type { ReadinessCheck } from "./readiness.ts";
import type { HttpRequest } from "./request.ts";
import {
  type HandledRequest,
  type HttpResponse,
  toErrorResponse,
  toOptionsResponse,
  toStatusResponse,
} from "./response.ts";
import { createRouter, type Operation, type Route } from "./routes.ts";

/** Maps a request to a response. Rejects only because of a bug: failures are responses. */
export type Handler = (request: HttpRequest) => Promise<HandledRequest>;

/** Dependencies of the handler. */
export interface HandlerOptions extends Omit<PlantServerOptions, "port" | "socketPath"> {
  /** URL under which the server is reached over HTTP, including the base path. */
  readonly url: string;
  readonly admission: Admission;
  /** Undefined while the server starts: creates get 50301. */
  readonly backend: () => ServerBackend | undefined;
  readonly checkReadiness: ReadinessCheck;
}

/** Creates the handler of a server. */
export function createHandler(options: HandlerOptions): Handler {
  const { basePath, metrics, onError, statusMode } = options;
  const addCors = createCorsPolicy(options.corsOrigins ?? []);
  const findRoute = createRouter(basePath, {
    hasPage: options.docs ?? true,
    hasMetrics: metrics !== undefined,
    hasOptions: addCors !== undefined,
  });
  const selfDescription = createSelfDescription(options);

  function perform(
    { operation, methods }: Route,
    request: HttpRequest,
  ): HttpResponse | RequestError | Promise<HttpResponse | RequestError> {
    const [host] = request.headers["host"] ?? [];
    const backend = options.backend();
    switch (operation) {
      case "create":
      case "probe":
        return backend === undefined ? serverStarting : createPlant(request, backend, options);
      case "health":
        return toStatusResponse("ok");
      case "readiness":
        return showReadiness(backend);
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

  async function showReadiness(backend: ServerBackend | undefined): Promise<HttpResponse> {
    const error = await options.checkReadiness();
    if (error === undefined) return toStatusResponse("ready", backend?.store.isVolatile);
    // Every reason has the status 503, which load balancers expect.
    return { ...toErrorResponse(error, "http"), status: 503 };
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
        onError(error);
        result = describeFailure(error);
      }
    }
    if (operation === "create" && isTokenCheck(request, result)) operation = "probe";
    const response = result instanceof RequestError ? toErrorResponse(result, statusMode) : result;
    return { response: addCors?.(response, request.headers["origin"]?.[0]) ?? response, operation };
  };
}

/** Errors that a check of a token gets. With another result, a create with its header is logged as a create. */
const tokenCheckErrors = new Set<ErrorKind>([
  "idMissing",
  "noCredential",
  "malformedCredential",
  "unknownToken",
  "expiredToken",
]);

function isTokenCheck({ headers }: HttpRequest, result: HttpResponse | RequestError): boolean {
  const isRejected = result instanceof RequestError && tokenCheckErrors.has(result.kind);
  return isRejected && headers[tokenCheckHeader] !== undefined;
}
