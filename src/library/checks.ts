/** Checks at run time that what a caller passes has the right types. */
import { invalid } from "../core/messages.ts";
import type { NewPlant } from "../core/plant.ts";
import { isRequired, newPlantSchema } from "../core/read-plant.ts";

/** The `fetch` of each store that listens. A client of such a store uses sockets, as any other client. */
export const listeningFetches = new WeakSet<object>();

/** Checks that a value is a function, or undefined. @throws InvalidValue */
export function checkFunction(value: unknown): void {
  if (value !== undefined && typeof value !== "function") throw invalid(value, "a function");
}

/** Checks whether a program can read values from it, at once or one after the other. Strings do not count. */
export function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value)
  );
}

/**
 * Checks the types of a plant. In JavaScript an id can be a number that has already lost digits.
 *
 * @param place names the plant in the message, such as `record 2: `
 * @throws TypeError
 */
export function assertPlantTypes(plant: NewPlant, place = ""): void {
  const { error } = newPlantSchema.safeParse(plant);
  const issue = error?.issues.find(({ code }) => code === "invalid_type");
  if (issue?.code !== "invalid_type") return;
  const [member] = issue.path as readonly (keyof NewPlant)[];
  if (member === undefined) {
    throw new TypeError(`${place}a plant must be an object such as { id: 1n, name: "fern" }`);
  }
  const advice = isRequired(member) ? "" : ", or be left out";
  throw new TypeError(`${place}${member} must be a ${issue.expected}${advice}`);
}
