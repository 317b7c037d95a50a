/** The public API: a plant store in another program, and a client of plant stores. */
export type { CreateAnswer } from "./client/answer.ts";
export {
  NotAPlantStoreError,
  UnavailableError,
  type UnavailableReason,
} from "./client/client-error.ts";
export { errorTable } from "./core/errors.ts";
export type { ErrorBody, NewPlant, Plant } from "./core/plant.ts";
export { type ConflictPolicy, type PlantQuery, StoreError } from "./core/store.ts";
export { createClient, type PlantClient, type PlantClientOptions } from "./plant-client.ts";
export { createPlantStore, type RunningPlantStore } from "./plant-store.ts";
export type { PlantStoreOptions } from "./plant-store-options.ts";
