/** The operations of the server: create a plant, health, readiness, description, metrics, page; and what they need of a store. */
import type { Authenticator } from "../auth/authenticator.ts";
import type {
  ContractOperationId,
  OperationId,
  operations,
  PathParameters,
} from "../core/contract.ts";
import { RequestError, toIdTakenError } from "../core/errors.ts";
import { readNewPlant } from "../core/read-plant.ts";
import type { ConflictPolicy, PlantStore } from "../core/store.ts";
import type { Admission } from "./admission.ts";
import { createSelfDescription, type DescribedPlantServer } from "./docs/self-description.ts";
import type { ServerFaults } from "./faults.ts";
import type { Metrics } from "./metrics.ts";
import { type BodyResult, checkBodyHeaders, type ServerRequest } from "./request.ts";
import {
  describeFailure,
  type OperationResult,
  serverStarting,
  toErrorResponse,
  toPlantResponse,
  toStatusResponse,
} from "./response.ts";

/** The store and the token check of a server. */
export interface ServerBackend {
  readonly store: Pick<PlantStore, "create" | "checkWritable" | "isVolatile">;
  readonly authenticator: Pick<Authenticator, "accepts" | "isFresh" | "refresh" | "check">;
}

/** A request and what its path says. */
export interface Call<Parameters = Readonly<Record<string, string>>> {
  readonly request: ServerRequest;
  /** Segments for the parameters of the operation's path, as the client wrote them. */
  readonly parameters: Parameters;
}

/** A request whose token was accepted. */
export interface AcceptedCall<
  Parameters = Readonly<Record<string, string>>,
> extends Call<Parameters> {
  /** Reads the body, and checks the token again if that took time. */
  readonly readBody: (maxBytes: number) => Promise<BodyResult>;
}

/** Performs an operation. A failure of the system is thrown, or rejects the promise. */
export type Perform<AnyCall, Backend> = (
  call: AnyCall,
  backend: Backend,
) => OperationResult | Promise<OperationResult>;

/** The function of each operation. An operation of the contract gets only requests whose token was accepted. */
export type OperationFunctions = {
  readonly [Id in OperationId]: Id extends ContractOperationId
    ? Perform<AcceptedCall<ParametersOf<Id>>, ServerBackend>
    : Perform<Call<ParametersOf<Id>>, ServerBackend | undefined> | undefined;
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
    create: (call, { store }) => createPlant(call, store, options),
    health: () => toStatusResponse("ok"),
    async readiness(_, backend) {
      const error = await checkReadiness();
      if (error === undefined) return toStatusResponse("ready", backend?.store.isVolatile);
      // Every reason has the status 503, which load balancers expect.
      return { ...toErrorResponse(error, "http"), status: 503 };
    },
    description: ({ request }, backend) =>
      selfDescription.describe(request, backend?.store.isVolatile),
    metrics:
      metrics &&
      (async () => {
        const { contentType } = metrics;
        return { status: 200, body: await metrics.render(), contentType, headers: [] };
      }),
    page: docs
      ? ({ request }, backend) => selfDescription.show(request, backend?.store.isVolatile)
      : undefined,
  };
}

/** Options for {@link createPlant}. */
interface CreateOptions {
  readonly admission: Admission;
  readonly maxBodyBytes: number;
  readonly onConflict: ConflictPolicy;
  /** Faults of creates, for tests of clients; none without it. */
  readonly faults?: ServerFaults | undefined;
}

/**
 * Creates the plant in a request.
 *
 * @throws StoreError when the store fails
 */
async function createPlant(
  { request, readBody }: AcceptedCall,
  store: ServerBackend["store"],
  { admission, maxBodyBytes, onConflict, faults }: CreateOptions,
): Promise<OperationResult> {
  const rejection = checkBodyHeaders(request, maxBodyBytes) ?? admission.checkCreates();
  if (rejection !== undefined) return rejection;
  const body = await readBody(maxBodyBytes);
  const plant = body instanceof RequestError ? body : readNewPlant(body);
  if (plant instanceof RequestError) return plant;
  const error = admission.checkCreates();
  if (error !== undefined) return error;
  admission.creates++;
  const create = async (): Promise<OperationResult> => {
    const requestedAtMs = performance.now();
    const { result, plants } = await store.create(plant, onConflict);
    if (result === "conflict") return toIdTakenError(plant.id);
    const durableAtMs = performance.now();
    const waitMs = durableAtMs - requestedAtMs;
    return toPlantResponse(plant, result, { durableAtMs, waitMs, plants });
  };
  try {
    return await (faults === undefined ? create() : faults.perform(create, request.signal));
  } finally {
    admission.creates--;
  }
}

/** Resolves with the reason for which the server is not ready, or with undefined if it is. Never rejects. */
export type ReadinessCheck = () => Promise<RequestError | undefined>;

interface ReadinessOptions {
  /** Undefined while the server starts. */
  readonly backend: () => ServerBackend | undefined;
  /** True from the start of a drain or a stop. */
  readonly isStopping: () => boolean;
  readonly onError: (error: unknown) => void;
}

const stopping = new RequestError("shuttingDown", "the server is stopping: try another one");

/** Requests may check readiness at any rate; the store and its tokens are checked at most this often, unless it has failed since. */
const writableCheckMs = 1000;

/** Creates the readiness check of a server, and a function that makes the next check ask the store again. */
export function createReadiness({ backend, isStopping, onError }: ReadinessOptions) {
  let last: Promise<unknown> | undefined;
  let hasPassed = false;
  let isDoubted = false;

  function checkWritable({ store, authenticator }: ServerBackend): Promise<unknown> {
    // A failed check is not doubted, so that failing creates cause no more checks.
    if (hasPassed && isDoubted) last = undefined;
    if (last !== undefined) return last;
    const check = Promise.all([store.checkWritable(), authenticator.refresh()]);
    const forget = (): void => {
      if (last === check) last = undefined;
    };
    const forgetLater = (): void => void setTimeout(forget, writableCheckMs).unref();
    check.then(() => {
      hasPassed = true;
      forgetLater();
    }, forgetLater);
    hasPassed = false;
    isDoubted = false;
    last = check;
    return check;
  }

  const check: ReadinessCheck = async () => {
    const opened = backend();
    if (opened === undefined) return serverStarting;
    if (isStopping()) return stopping;
    try {
      await checkWritable(opened);
      return undefined;
    } catch (error) {
      onError(error);
      return describeFailure(error);
    }
  };

  return {
    check,
    /** Makes the next check ask the store again, because the store has failed since. */
    doubt: (): void => void (isDoubted = true),
  };
}
