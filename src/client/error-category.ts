/** Sorts error numbers by what a client has to do. */
import { errorTable } from "../core/errors.ts";

/**
 * - `tokenRejected`: the credential is missing or rejected
 * - `idTaken`: the id belongs to a different plant
 * - `invalidPlant`: the plant breaks a rule
 * - `noPlantStore`: the request does not fit the server, for example because of a wrong base path
 * - `unavailable`: a retry may succeed
 */
export type ErrorCategory =
  | "tokenRejected"
  | "idTaken"
  | "invalidPlant"
  | "noPlantStore"
  | "unavailable";

/** Returns the category of an Error. */
export function categorizeError(error: number): ErrorCategory {
  if (error === errorTable.malformedHttp.error) return "noPlantStore";
  // The number starts with the usual status of the failure.
  const status = Math.trunc(error / 100);
  if (status >= 500 && status <= 599) return "unavailable";
  return categoryByStatus[status] ?? "invalidPlant";
}

/** Checks whether every other create would get the same Error. */
export function concernsAllCreates(error: number): boolean {
  const category = categorizeError(error);
  return category === "tokenRejected" || category === "noPlantStore";
}

const categoryByStatus: Readonly<Record<number, ErrorCategory>> = {
  401: "tokenRejected",
  404: "noPlantStore",
  405: "noPlantStore",
  408: "unavailable",
  409: "idTaken",
  414: "noPlantStore",
  417: "noPlantStore",
  431: "noPlantStore",
};
