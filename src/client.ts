/** The public API of a client of plant stores, without the store and the server. */
export type { CreateResponse } from "./client/create-messages.ts";
export {
  NotAPlantStoreError,
  UnavailableError,
  type UnavailableReason,
} from "./client/client-error.ts";
export type { Rejection, SentResult } from "./client/item-result.ts";
export { type StopCause, StoppedError } from "./client/stopped-error.ts";
export { errorTable } from "./core/errors.ts";
export type { ErrorBody, NewPlant, Plant } from "./core/plant.ts";
export type { SuccessfulResult } from "./core/store.ts";
export type { CreateManyOptions, CreateManyResult } from "./library/create-many.ts";
export {
  createClient,
  type CreateOptions,
  type PlantClient,
  type PlantClientOptions,
} from "./library/plant-client.ts";
