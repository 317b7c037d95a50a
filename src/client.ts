/** The public API of a client of plant stores, without the store and the server. */
export {
  type CreateResponse,
  type DeleteResponse,
  type ErrorResponse,
  NotAPlantStoreError,
  PageTooLargeError,
  type ProxyLimit,
  type Rejection,
  type StopCause,
  StoppedError,
  UnavailableError,
  type UnavailableReason,
} from "./client/results.ts";
export type { Fetch } from "./client/fetch-post.ts";
export type { ContractOperationId, OperationId } from "./core/contract.ts";
export { type ErrorRow, errorTable, type NextStep } from "./core/errors.ts";
export type { CreateManyOptions } from "./library/client-options.ts";
export {
  createClient,
  type CreateManyResult,
  type CreateOptions,
  type DeleteOptions,
  type ListPagesOptions,
  type PlantClient,
  type PlantClientOptions,
} from "./library/plant-client.ts";
export type { ErrorBody, NewPlant, Plant, PlantInput } from "./core/plant.ts";
export type { SuccessfulResult } from "./core/store.ts";
