/** What is wrong with a member of a plant, and how a message says it. */
import type { ErrorKind, Problem } from "./errors.ts";
import { int64Max, int64Min, isJsonNumber } from "./int64.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "./json.ts";
import { quoteInput } from "./quote.ts";

/** Names the place of a member in a message: a JSON pointer for a body, the flag for a command line. */
export type NamePlace = (member: string) => string;

/**
 * The rule that a member breaks.
 *
 * @param code what zod calls it
 */
export function toProblem(
  member: string,
  code: string,
  plant: JsonObject,
  namePlace: NamePlace,
): Problem {
  const kind = toKind(member, plant.has(member), code);
  return { kind, message: `${namePlace(member)} ${toComplaint(kind, plant.get(member))}` };
}

function toKind(member: string, isPresent: boolean, code: string): ErrorKind {
  if (member === "tag") return "tagNotString";
  if (member === "name") return isPresent ? "nameNotString" : "nameMissing";
  if (!isPresent) return "idMissing";
  return code === "invalid_type" ? "idNotInteger" : "idOutOfRange";
}

function toComplaint(kind: ErrorKind, value: JsonValue | undefined): string {
  const range = `an integer from ${int64Min} to ${int64Max}`;
  switch (kind) {
    case "idMissing":
      return `is missing: it must be ${range}`;
    case "idNotInteger":
    case "idOutOfRange":
      return `is ${describeValue(value)}: it must be ${range}`;
    case "nameMissing":
      return "is missing: it must be a string";
    case "tagNotString":
      return `is ${describeValue(value)}: it must be a string, or be left out`;
    default:
      return `is ${describeValue(value)}: it must be a string`;
  }
}

/** Of a flag or a cell it is whatever was typed there. */
function describeNumber(text: string): string {
  const shown = /^\S+$/.test(text) ? quoteInput(text) : `"${quoteInput(text)}"`;
  // Of words one sees that they are none.
  return /\d/.test(text) && !isJsonNumber(text) ? `${shown}, which is no number in JSON` : shown;
}

/** Says of a string only that it is one: it could be a secret in the wrong place. */
export function describeValue(value: JsonValue | undefined): string {
  if (value instanceof JsonNumber) return describeNumber(value.text);
  if (typeof value === "string") return "a string";
  if (typeof value !== "object" || value === null) return String(value);
  return value instanceof Map ? "an object" : "an array";
}
