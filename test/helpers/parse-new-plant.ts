/** Parses a plant, and throws errors instead of returning them. */
import { RequestError } from "../../src/core/errors.ts";
import type { NewPlant } from "../../src/core/plant.ts";
import { readNewPlant } from "../../src/core/read-plant.ts";

/** @throws RequestError when the body is not a plant */
export function parseNewPlant(body: Uint8Array): NewPlant {
  const plant = readNewPlant(body);
  if (plant instanceof RequestError) throw plant;
  return plant;
}
