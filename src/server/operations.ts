/** The operations of the server, those of the contract and those beside it, and what they need of a store. */
import type { Authenticator } from "../auth/authenticator.ts";
import { isLocalUrl } from "../core/base-url.ts";
import type { ContractOperationId, OperationId } from "../core/contract.ts";
import { RequestError, toIdTakenError, toNoSuchPlantError } from "../core/errors.ts";
import { readId, readPageQuery } from "../core/parameters.ts";
import { type NewPlant, toNewPlantJson } from "../core/plant.ts";
import { readNewPlant } from "../core/read-plant.ts";
import type { ConflictPolicy, PlantStore } from "../core/store.ts";
import { type Admission, maxPageBytes } from "./admission.ts";
import {
  createSelfDescription,
  type DescribedPlantServer,
  findPublicUrl,
  toNameError,
} from "./docs/self-description.ts";
import type { ServerFaults } from "./faults.ts";
import type { Metrics } from "./metrics.ts";
import type { PageQueue } from "./page-queue.ts";
import {
  type BodyResult,
  checkBodyHeaders,
  type ServerRequest,
  toPath,
  toQuery,
} from "./request.ts";
import {
  describeSystemFailure,
  serverStarting,
  serverStopping,
  type ServerResponse,
  toDeletedResponse,
  toErrorResponse,
  toPlantsResponse,
  toPlantResponse,
  toStatusResponse,
} from "./response.ts";

/** The store and the token check of a server. */
export interface ServerBackend {
  readonly store: Pick<
    PlantStore,
    "create" | "deletePlant" | "listCommitted" | "checkWritable" | "kind"
  >;
  readonly authenticator: Pick<Authenticator, "accepts" | "isFresh" | "refresh" | "check">;
}

/** A request whose token was accepted. */
export interface AcceptedCall {
  readonly request: ServerRequest;
  /** True while its change is in the store: it may be done or not. */
  isChanging: boolean;
  /**
   * Asked at first, and whenever the request has waited: for the start, its body or its turn.
   *
   * @returns an error if the request is not to be performed any more; at once if it can
   */
  checkAgain(backend: ServerBackend): RequestError | undefined | Promise<RequestError | undefined>;
}

/** Performs an operation. A failure of the system is thrown, or rejects the promise. */
type Perform<Call, Backend> = (
  call: Call,
  backend: Backend,
) => ServerResponse | RequestError | Promise<ServerResponse | RequestError>;

/** Checks the body of a request. @returns what to do in the store, unless the body is invalid */
type OperationWork = (
  store: ServerBackend["store"],
  body: Uint8Array,
) => RequestError | (() => Promise<ServerResponse | RequestError>);

/** The functions of the contract's operations, which get only requests whose token was accepted, and those of the others. */
export interface OperationFunctions {
  readonly contract: Record<ContractOperationId, Perform<AcceptedCall, ServerBackend>>;
  /** Undefined for an operation that is disabled. */
  readonly others: Record<
    Exclude<OperationId, ContractOperationId>,
    Perform<ServerRequest, ServerBackend | undefined> | undefined
  >;
}

/** Options for {@link createOperations}. */
export interface OperationOptions extends ContractOptions, DescribedPlantServer {
  readonly checkReadiness: ReadinessCheck;
  /** `false` disables the documentation page. */
  readonly docs?: boolean;
  readonly metrics?: Pick<Metrics, "contentType" | "render"> | undefined;
}

/** Creates the functions of the operations that are enabled. */
export function createOperations(options: OperationOptions): OperationFunctions {
  const { checkReadiness, docs = true, metrics } = options;
  const selfDescription = createSelfDescription(options);
  const contract: OperationFunctions["contract"] = {
    create: (call, backend) => change(call, backend, options, prepareCreate(call.request, options)),
    list: (call, backend) => readPage(call, backend, options, prepareList(call.request)),
    delete: (call, backend) => change(call, backend, options, prepareDelete(call.request)),
  };
  const others: OperationFunctions["others"] = {
    health: () => toStatusResponse("ok"),
    async readiness(_, backend) {
      const error = await checkReadiness();
      if (error === undefined) return toStatusResponse("ready", backend?.store.kind);
      // Every reason has the status 503, which load balancers expect.
      return { ...toErrorResponse(error, "http"), status: 503 };
    },
    description: (request, backend) => selfDescription.describe(request, backend?.store.kind),
    metrics:
      metrics &&
      (async (request) => {
        const isForeign = isLocalUrl(options.url) && findPublicUrl(request, options) === undefined;
        if (isForeign) return toNameError(request);
        const { contentType } = metrics;
        return { status: 200, body: await metrics.render(), contentType, headers: [] };
      }),
    page: docs
      ? (request, backend) => selfDescription.show(request, backend?.store.kind)
      : undefined,
  };
  return { contract, others };
}

/** Options for the operations of the contract. */
interface ContractOptions {
  readonly admission: Admission;
  readonly pages: PageQueue;
  readonly maxBodyBytes: number;
  readonly onConflict: ConflictPolicy;
  /** Receives every unexpected error and every failure of the store. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Faults, for tests of clients; none without it. */
  readonly faults?: ServerFaults | undefined;
  /** Receives the body of each change. */
  readonly onBody?: ((request: ServerRequest, body: Uint8Array) => void) | undefined;
}

/** Changes the store as the body of a request says. */
function change(
  call: AcceptedCall,
  backend: ServerBackend,
  options: ContractOptions,
  work: OperationWork | RequestError,
): ServerResponse | RequestError | Promise<ServerResponse | RequestError> {
  if (work instanceof RequestError) return work;
  const { request } = call;
  const use = (
    body: BodyResult,
    hasWaited: boolean,
  ): ServerResponse | RequestError | Promise<ServerResponse | RequestError> => {
    if (body instanceof RequestError) return body;
    const error = hasWaited ? call.checkAgain(backend) : undefined;
    if (error instanceof Promise) return error.then((found) => found ?? use(body, false));
    options.onBody?.(request, body);
    const run = error ?? options.admission.checkChanges() ?? work(backend.store, body);
    return run instanceof RequestError ? run : countChange(call, options, run);
  };
  return request.readBody(options.maxBodyBytes, use);
}

/** Counts a change while it is performed, unless it fails on demand. A failure of the store is its result. */
async function countChange(
  call: AcceptedCall,
  { admission, faults, onError }: ContractOptions,
  run: () => Promise<ServerResponse | RequestError>,
): Promise<ServerResponse | RequestError> {
  admission.changes++;
  call.isChanging = true;
  try {
    return await (faults === undefined ? run() : faults.perform(run, call.request.client.signal));
  } catch (failure) {
    onError(failure);
    return describeSystemFailure(failure, true);
  } finally {
    call.isChanging = false;
    admission.changes--;
  }
}

/** Reads a page of plants when it is its turn. */
function readPage(
  call: AcceptedCall,
  backend: ServerBackend,
  { pages, faults }: ContractOptions,
  work: OperationWork | RequestError,
): ServerResponse | RequestError | Promise<ServerResponse | RequestError> {
  if (work instanceof RequestError) return work;
  const { request } = call;
  const read = () =>
    pages.read(request, async () => {
      const run = (await call.checkAgain(backend)) ?? work(backend.store, noBytes);
      return run instanceof RequestError ? run : run();
    });
  return faults === undefined ? read() : faults.delay(read, request.client.signal);
}

const noBytes = new Uint8Array();

/** Creates the plant in a request. */
function prepareCreate(
  request: ServerRequest,
  { maxBodyBytes, onConflict }: ContractOptions,
): OperationWork | RequestError {
  const error = checkBodyHeaders(request, maxBodyBytes);
  if (error !== undefined) return error;
  return (store, body) => {
    const plant = readNewPlant(body);
    if (plant instanceof RequestError) return plant;
    return async () => {
      const commit = await store.create(plant, onConflict);
      return commit.result === "conflict"
        ? toIdTakenError(plant.id)
        : toPlantResponse(plant, commit);
    };
  };
}

/** Deletes the plant of an id. The content of the body is ignored. */
function prepareDelete({ target }: ServerRequest): OperationWork | RequestError {
  const path = toPath(target);
  const id = readId(path.slice(path.lastIndexOf("/") + 1));
  if (id instanceof RequestError) return id;
  return (store) => async () => {
    const commit = await store.deletePlant(id);
    return commit.result === "absent" ? toNoSuchPlantError(id) : toDeletedResponse(commit);
  };
}

/** Lists a page of plants. */
function prepareList({ target }: ServerRequest): OperationWork | RequestError {
  const query = readPageQuery(toQuery(target));
  if (query instanceof RequestError) return query;
  const { limit, after } = query;
  return (store) => async () => {
    // One more than the page has tells whether others follow.
    const found = await store.listCommitted({ limit: limit + 1, after });
    const { count, body } = toPageJson(found.slice(0, limit));
    const last = found[count - 1];
    if (last === undefined) return toPlantsResponse(body, undefined);
    const isShort = count < found.length;
    // The store ends a page by its size too.
    const hasMore = isShort || (await store.listCommitted({ limit: 1, after: last.id })).length > 0;
    return toPlantsResponse(body, hasMore ? { limit, after: last.id } : undefined);
  };
}

/** Returns the JSON of a page, which ends before a plant that exceeds its length, and the number of its plants. */
function toPageJson(plants: readonly NewPlant[]) {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (const plant of plants) {
    const piece = Buffer.from(`${pieces.length === 0 ? "[" : ","}${toNewPlantJson(plant)}`);
    bytes += piece.length;
    if (pieces.length > 0 && bytes >= maxPageBytes) break;
    pieces.push(piece);
  }
  const count = pieces.length;
  return { count, body: Buffer.concat([...pieces, Buffer.from(count === 0 ? "[]" : "]")]) };
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

/** Requests may check readiness at any rate; the store and its tokens are checked at most this often, unless it has failed since. */
const writableCheckMs = 1000;

/** Creates the readiness check of a server, and a function that makes the next check ask the store again. */
export function createReadiness({ backend, isStopping, onError }: ReadinessOptions) {
  let last: Promise<RequestError | undefined> | undefined;
  /** Until when the last check counts, in milliseconds of `performance.now()`; infinite while it runs. */
  let countsUntilMs = 0;
  let hasPassed = false;
  let isDoubted = false;

  async function ask({ store, authenticator }: ServerBackend): Promise<RequestError | undefined> {
    hasPassed = false;
    isDoubted = false;
    countsUntilMs = Number.POSITIVE_INFINITY;
    try {
      await Promise.all([store.checkWritable(), authenticator.refresh()]);
      hasPassed = true;
      return undefined;
    } catch (error) {
      onError(error);
      return describeSystemFailure(error);
    } finally {
      countsUntilMs = performance.now() + writableCheckMs;
    }
  }

  const check: ReadinessCheck = async () => {
    const opened = backend();
    if (opened === undefined) return serverStarting;
    if (isStopping()) return serverStopping;
    // Creates that fail ask for a new check only if the last one passed: failures in a row cause one.
    const isOver = performance.now() >= countsUntilMs || (hasPassed && isDoubted);
    if (last === undefined || isOver) last = ask(opened);
    return last;
  };

  return {
    check,
    /** Makes the next check ask the store again, because the store has failed since. */
    doubt: (): void => void (isDoubted = true),
  };
}
