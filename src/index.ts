/** The public API: a plant store in another program, and a client of plant stores. */
export * from "./client.ts";
export type { OperationSet } from "./core/contract.ts";
export type { StatusMode } from "./core/errors.ts";
export { type ConflictPolicy, StoreError, type StoreErrorReason } from "./core/store.ts";
export type { PlantListener } from "./library/listener.ts";
export {
  type ListOptions,
  type NextRequestOptions,
  type PlantSeed,
  type PlantStoreOptions,
  type RunningPlantStore,
  startPlantStore,
} from "./library/plant-store.ts";
export type { SeedTally } from "./library/seed.ts";
export type { FaultOptions, Latency, PlannedFault } from "./library/store-options.ts";
export type { JournalEntry } from "./server/journal.ts";
