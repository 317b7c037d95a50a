/** The status of a plant in a bulk create. */
import { UnavailableError } from "./client-error.ts";
import type { ItemResult } from "./create-plants.ts";
import { categorizeError } from "./error-category.ts";

/**
 * - `created`, `unchanged`, `replaced`: the plant is in the store
 * - `rejected`: the same request would fail again
 * - `failed`: a retry may succeed
 */
export type ItemStatus = "created" | "unchanged" | "replaced" | "rejected" | "failed";

/** Returns the status of a result. A success whose response names no result counts as `created`. */
export function toItemStatus(result: ItemResult): ItemStatus {
  if (result instanceof UnavailableError) return "failed";
  if (!("ok" in result)) return "rejected";
  if (result.ok) return result.result ?? "created";
  return categorizeError(result.error.error) === "unavailable" ? "failed" : "rejected";
}
