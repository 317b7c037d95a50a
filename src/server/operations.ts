/** The functions of the operations. */
import type {
  ContractOperationId,
  OperationId,
  operations,
  PathParameters,
} from "../core/contract.ts";
import { type CreateOptions, createPlant } from "./create-plant.ts";
import { createSelfDescription, type DescribedPlantServer } from "./docs/self-description.ts";
import type { Metrics } from "./ops/metrics.ts";
import type { ServerBackend } from "./options.ts";
import type { ReadinessCheck } from "./readiness.ts";
import type { HttpRequest } from "./request.ts";
import { type RequestResult, toErrorResponse, toStatusResponse } from "./response.ts";

/**
 * Performs an operation. A failure of the system is thrown, or rejects the promise.
 *
 * @param parameters segments for the parameters of the operation's path, as the client wrote them
 */
export type Perform<Backend, Parameters = Readonly<Record<string, string>>> = (
  request: HttpRequest,
  backend: Backend,
  parameters: Parameters,
) => RequestResult | Promise<RequestResult>;

/** The function of each operation. An operation of the contract gets only requests whose token was accepted. */
export type OperationFunctions = {
  readonly [Id in OperationId]: Id extends ContractOperationId
    ? Perform<ServerBackend, ParametersOf<Id>>
    : Perform<ServerBackend | undefined, ParametersOf<Id>> | undefined;
};

type ParametersOf<Id extends OperationId> = PathParameters<(typeof operations)[Id]["path"]>;

/** Options for {@link createOperations}. */
export interface OperationOptions extends CreateOptions, DescribedPlantServer {
  readonly checkReadiness: ReadinessCheck;
  /** `false` disables the documentation page. */
  readonly docs?: boolean;
  readonly metrics?: Pick<Metrics, "contentType" | "render"> | undefined;
}

/** Creates the functions of the operations that are enabled. */
export function createOperations(options: OperationOptions): OperationFunctions {
  const { checkReadiness, docs = true, metrics } = options;
  const selfDescription = createSelfDescription(options);
  return {
    create: (request, { store }) => createPlant(request, store, options),
    health: () => toStatusResponse("ok"),
    async readiness(_, backend) {
      const error = await checkReadiness();
      if (error === undefined) return toStatusResponse("ready", backend?.store.isVolatile);
      // Every reason has the status 503, which load balancers expect.
      return { ...toErrorResponse(error, "http"), status: 503 };
    },
    description: ({ headers }) => selfDescription.describe(headers["host"]?.[0]),
    metrics:
      metrics &&
      (async () => {
        const { contentType } = metrics;
        return { status: 200, body: await metrics.render(), contentType, headers: "" };
      }),
    page: docs ? ({ headers }) => selfDescription.show(headers["host"]?.[0]) : undefined,
  };
}
