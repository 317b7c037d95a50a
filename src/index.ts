/** The public API: a plant store in another program, and a client of plant stores. */
export type { CreateResponse } from "./client/create-messages.ts";
export {
  NotAPlantStoreError,
  UnavailableError,
  type UnavailableReason,
} from "./client/client-error.ts";
export { StoppedError } from "./client/stopped-error.ts";
export { errorTable } from "./core/errors.ts";
export type { ErrorBody, NewPlant, Plant } from "./core/plant.ts";
export {
  type ConflictPolicy,
  type PlantQuery,
  StoreError,
  type StoreErrorReason,
} from "./core/store.ts";
export type { CreateManyOptions, CreateManyResult } from "./library/create-many.ts";
export { createClient, type PlantClient, type PlantClientOptions } from "./library/plant-client.ts";
export {
  type PlantSeed,
  type PlantStoreOptions,
  type RunningPlantStore,
  startPlantStore,
} from "./library/plant-store.ts";
export type { Latency } from "./library/option-types.ts";
export type { SeedTally } from "./library/seed.ts";
