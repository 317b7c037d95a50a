/** The public API: the plant store's parts, for those who put them into a program of their own. */
export { type Authenticator, createAuthenticator } from "./auth/authenticator.ts";
export { digestToken, mintToken } from "./auth/token.ts";
export { errorTable } from "./core/errors.ts";
export type { ErrorBody, NewPlant, Plant } from "./core/plant.ts";
export {
  type ConflictPolicy,
  type CreateResult,
  type PlantStore,
  StoreError,
  type TokenRecord,
} from "./core/store.ts";
export { openPlantServer, type PlantServer, type PlantServerOptions } from "./server/server.ts";
export { openStore } from "./store/open-store.ts";
