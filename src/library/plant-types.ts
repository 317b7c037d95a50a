/** Checks at run time that the plant of a caller has the right types. */
import type { NewPlant } from "../core/plant.ts";

/**
 * Checks the types of a plant. In JavaScript an id can be a number that has already lost digits.
 *
 * @param place names the plant in the message, such as `record 2: `
 * @throws TypeError
 */
export function assertPlantTypes(plant: NewPlant, place = ""): void {
  const value: unknown = plant;
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`${place}a plant must be an object such as { id: 1n, name: "fern" }`);
  }
  const { id, name, tag }: { readonly [Key in keyof NewPlant]?: unknown } = value;
  if (typeof id !== "bigint") throw new TypeError(`${place}id must be a bigint`);
  if (typeof name !== "string") throw new TypeError(`${place}name must be a string`);
  if (tag !== undefined && typeof tag !== "string") {
    throw new TypeError(`${place}tag must be a string, or be left out`);
  }
}
