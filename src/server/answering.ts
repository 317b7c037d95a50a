/** What each request is answered with: what its operation has to say, or why it is refused. */
import { Refusal } from "../core/errors.ts";
import { StoreError } from "../core/store.ts";
import { tooManyAtATime } from "./connections/connections.ts";
import { createCorsPolicy } from "./exchange/cors.ts";
import { type CreateContext, createPlant } from "./create/create-plant.ts";
import type { Exchange } from "./exchange/exchange.ts";
import type { PlantServerOptions } from "./options.ts";
import { createReadinessCheck } from "./observing/readiness.ts";
import { type Answer, toErrorAnswer, toOptionsAnswer, toStatusAnswer } from "./exchange/reply.ts";
import { createRouter } from "./exchange/routes.ts";
import { createSelfDescription } from "./docs/self-description.ts";

/** What a server is, as far as its answers show. */
export type AnsweringServer = Omit<PlantServerOptions, "port" | "socketPath"> & {
  /** Where it is reached over HTTP, with the base path. */
  readonly url: string;
};

/**
 * The answers of a server.
 *
 * @returns a function that gives the answer to a request, at once when it is known at once; it never throws: whatever
 * fails is an answer too
 */
export function createAnswering(
  server: AnsweringServer,
  context: CreateContext,
): (exchange: Exchange, give: (answer: Answer) => void) => void {
  const addCors = createCorsPolicy(server.corsOrigins ?? []);
  const findRoute = createRouter(server.basePath, {
    hasPage: server.docs ?? true,
    hasMetrics: server.metrics !== undefined,
    hasOptions: addCors !== undefined,
  });
  const checkReadiness = createReadinessCheck(server.store, context.isStopping);
  const selfDescription = createSelfDescription(server);

  function perform(exchange: Exchange): Answer | Refusal | Promise<Answer | Refusal> {
    const { head, request } = exchange;
    if (head.refusal !== undefined) throw head.refusal;
    if (exchange.isExcess) throw tooManyAtATime();
    const { operation, methods } = findRoute(request);
    exchange.operation = operation;
    switch (operation) {
      case "create":
        return createPlant(exchange, context);
      case "health":
        return toStatusAnswer("ok");
      case "readiness":
        return checkReadiness().then(
          () => toStatusAnswer("ready"),
          (error: unknown) => toErrorAnswer(toRefusal(error, server.onError), 503),
        );
      case "metrics":
        return toMetricsAnswer(server.metrics);
      case "description":
        return selfDescription.describe(request.headers.host);
      case "page":
        return selfDescription.show(request.headers.host);
      case "options":
        return toOptionsAnswer(methods);
    }
  }

  return (exchange, give) => {
    const { origin } = addCors === undefined ? {} : exchange.request.headers;
    const giveAnswer = (result: Answer | Refusal): void => {
      const answer = result instanceof Refusal ? toErrorAnswer(result) : result;
      give(addCors?.(answer, origin) ?? answer);
    };
    const refuse = (error: unknown): void => giveAnswer(toRefusal(error, server.onError));
    try {
      const result = perform(exchange);
      if (result instanceof Promise) result.then(giveAnswer, refuse);
      else giveAnswer(result);
    } catch (error) {
      refuse(error);
    }
  };
}

async function toMetricsAnswer(metrics: PlantServerOptions["metrics"]): Promise<Answer> {
  const body = (await metrics?.render()) ?? "";
  return { status: 200, body, contentType: metrics?.contentType ?? "text/plain", headers: {} };
}

/** What a client is told of a failure: of one that is not its own, nothing but what it can do. */
function toRefusal(error: unknown, onError: (error: unknown) => void): Refusal {
  if (error instanceof Refusal) return error;
  onError(error);
  switch (error instanceof StoreError ? error.reason : undefined) {
    case "full":
      return new Refusal("storageFull", "the storage is full or read-only: try again later");
    case "busy":
      return new Refusal("overloaded", "the storage is busy: try again");
    case "closed":
      return new Refusal("shuttingDown", "the server is stopping: try again");
    default:
      return new Refusal("unexpected", "the server failed unexpectedly: try again");
  }
}
