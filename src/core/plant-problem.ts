/** Describes why a plant is rejected. */
import { type ErrorKind, type Problem, RequestError } from "./errors.ts";
import { int64Max, int64Min, isJsonNumber } from "./int64.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "./json.ts";
import { quoteInput } from "./quote.ts";

/** Names a member in a message: `id` in a body, `--id` on the command line, `column id` in a table. */
export type NamePlace = (member: string) => string;

/**
 * Describes the rule that a member breaks.
 *
 * @param code zod's name of the problem
 */
export function toProblem(
  member: string,
  code: string,
  plant: JsonObject,
  namePlace: NamePlace,
): Problem {
  const kind = toKind(member, plant.has(member), code);
  return { kind, message: `${namePlace(member)} ${toPredicate(kind, plant.get(member))}` };
}

/** The error of a create whose id belongs to a different plant. */
export function toIdTakenError(id: bigint): RequestError {
  return new RequestError(
    "idTaken",
    `id ${id} belongs to a different plant, which was not changed: choose another id`,
  );
}

function toKind(member: string, isPresent: boolean, code: string): ErrorKind {
  if (member === "tag") return "tagNotString";
  if (member === "name") return isPresent ? "nameNotString" : "nameMissing";
  if (!isPresent) return "idMissing";
  return code === "invalid_type" ? "idNotInteger" : "idOutOfRange";
}

function toPredicate(kind: ErrorKind, value: JsonValue | undefined): string {
  const range = `an integer from ${int64Min} to ${int64Max}`;
  switch (kind) {
    case "idMissing":
      return `is missing: it must be ${range}`;
    case "idNotInteger":
    case "idOutOfRange":
      return `must be ${range} (got ${describeValue(value)})`;
    case "nameMissing":
      return "is missing: it must be a string";
    case "tagNotString":
      return `must be a string or be left out (got ${describeValue(value)})`;
    default:
      return `must be a string (got ${describeValue(value)})`;
  }
}

/** Describes the text of a number; from a flag or a table, it can be any text. */
function describeNumber(text: string): string {
  const shown = /^\S+$/.test(text) ? quoteInput(text) : `"${quoteInput(text)}"`;
  // Text without digits is obviously not a number.
  return /\d/.test(text) && !isJsonNumber(text) ? `${shown}, which is not a JSON number` : shown;
}

/** Describes a value for a message. Does not quote strings: one could be a secret in the wrong place. */
export function describeValue(value: JsonValue | undefined): string {
  if (value instanceof JsonNumber) return describeNumber(value.text);
  if (typeof value === "string") return "a string";
  if (typeof value !== "object" || value === null) return String(value);
  return value instanceof Map ? "an object" : "an array";
}
