/** The public API: a plant store in another program, and a client of plant stores. */
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
export {
  type ConflictPolicy,
  type PlantQuery,
  StoreError,
  type StoreErrorReason,
  type SuccessfulResult,
} from "./core/store.ts";
export type { CreateManyOptions, CreateManyResult } from "./library/create-many.ts";
export type { FaultOptions } from "./library/options.ts";
export {
  createClient,
  type CreateOptions,
  type PlantClient,
  type PlantClientOptions,
} from "./library/plant-client.ts";
export {
  type PlantSeed,
  type PlantStoreOptions,
  type RunningPlantStore,
  startPlantStore,
} from "./library/plant-store.ts";
export type { Latency } from "./library/option-types.ts";
export type { SeedTally } from "./library/seed.ts";
