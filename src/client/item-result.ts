/** A plant of a bulk create, and its result. */
import type { NewPlant, Plant } from "../core/plant.ts";
import type { SuccessfulResult } from "../core/store.ts";
import { categorizeError, UnavailableError } from "./client-error.ts";
import type { FinalResponse } from "./send-plant.ts";

/** Reason for which a plant is not created. */
export interface Rejection {
  /** A number of the error table; missing if no rule of the service is broken, or without a response. */
  readonly error?: number;
  readonly message: string;
}

/** A plant to create. */
export interface PlantItem {
  /** A plant with a Rejection is not sent. Undefined skips the item. */
  readonly plant: NewPlant | Rejection | undefined;
  /** Bytes that the item holds in memory. */
  readonly bytes: Uint8Array;
}

/**
 * Result of a plant that was sent:
 * - `created`, `unchanged`, `replaced`: the plant is in the store
 * - `rejected`: the same request would fail again
 * - `failed`: a retry may succeed
 */
export type SentResult =
  | { readonly status: SuccessfulResult; readonly plant: Plant }
  | {
      readonly status: "rejected" | "failed";
      /** Without a number if the service did not respond. */
      readonly error: Rejection;
      /** Id of the request in the server's log. */
      readonly requestId?: string | undefined;
    };

/**
 * Result for one item. If it was not sent:
 * - `rejected`: the plant is invalid
 * - `valid`: the plant is valid, and the run is a dry run
 * - `skipped`: the item is not a plant
 */
export type ItemResult =
  | SentResult
  | { readonly status: "valid"; readonly plant: Plant }
  | { readonly status: "skipped" };

/** A response that names no result counts as `created`. The error without a response is the UnavailableError itself. */
export function toSentResult(response: FinalResponse | UnavailableError): SentResult {
  if (response instanceof UnavailableError) return { status: "failed", error: response };
  if (response.ok) return { status: response.result ?? "created", plant: response.plant };
  const { error, requestId } = response;
  const isFailed = categorizeError(error.error) === "unavailable";
  return { status: isFailed ? "failed" : "rejected", error, requestId };
}

/** Checks whether an item is a valid plant. */
export function isSendable(plant: PlantItem["plant"]): plant is NewPlant {
  return plant !== undefined && !("message" in plant);
}

/** Returns the result of an item that is not sent. */
export function toLocalResult(plant: PlantItem["plant"]): ItemResult {
  if (plant === undefined) return { status: "skipped" };
  return isSendable(plant) ? { status: "valid", plant } : { status: "rejected", error: plant };
}
