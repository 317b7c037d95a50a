/** Checks at run time that what a caller passes has the right types. */
import { invalid } from "../core/messages.ts";
import type { NewPlant, PlantInput } from "../core/plant.ts";
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
 * Checks an id of a program: a bigint, or a number that is a safe integer. Any other number may have lost digits already.
 *
 * @returns the id as a bigint
 * @throws InvalidValue
 */
export function checkId(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  throw invalid(value, "a bigint, or a safe integer");
}

/**
 * Checks the types of a plant. Its id is checked as {@link checkId}.
 *
 * @param prefix names the plant in the message, such as `record 2: `
 * @returns the plant, with its id as a bigint
 * @throws TypeError
 */
export function checkPlantTypes(plant: PlantInput, prefix = ""): NewPlant {
  const isObject = typeof (plant as unknown) === "object" && (plant as unknown) !== null;
  const hasSafeId = isObject && Number.isSafeInteger(plant.id);
  const exact = (hasSafeId ? { ...plant, id: BigInt(plant.id) } : plant) as NewPlant;
  const { error } = newPlantSchema.safeParse(exact);
  const issue = error?.issues.find(({ code }) => code === "invalid_type");
  if (issue?.code !== "invalid_type") return exact;
  const [member] = issue.path as readonly (keyof NewPlant)[];
  if (member === undefined) {
    throw new TypeError(`${prefix}a plant must be an object such as { id: 1n, name: "fern" }`);
  }
  const advice = isRequired(member) ? "" : ", or be left out";
  const type = member === "id" ? `${issue.expected} or a safe integer` : issue.expected;
  throw new TypeError(`${prefix}${member} must be a ${type}${advice}`);
}
