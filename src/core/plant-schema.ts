/** The schemas of plants and Errors, and the rules of each member (contract.md "Given"). */
import * as z from "zod/mini";
import type { ErrorKind } from "./errors.ts";
import { int64Max, int64Min, toInteger } from "./int64.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "./json.ts";
import type { AllMembers, ErrorBody, NewPlant, Plant } from "./plant.ts";

/** A schema of every member of T, and of no other. */
type Shape<T> = { readonly [Member in keyof Required<T>]: z.ZodMiniType<T[Member]> };

/** Validates and describes a Plant. */
export const plantSchema = z.object({
  name: z.string().check(z.describe("The name of the plant")),
  tag: z.optional(z.string()).check(z.describe("Tag that specifies the type of the plant")),
} satisfies Shape<Plant>);

/** Validates and describes a NewPlant. */
export const newPlantSchema = z.object({
  id: z.int64().check(z.describe("Identification number of the plant")),
  ...plantSchema.shape,
} satisfies Shape<NewPlant>);

/** Validates and describes an Error body. */
export const errorBodySchema = z.object({
  error: z.int32().check(z.describe("Number of the failure, from the list in the operation")),
  message: z.string().check(z.describe("The problem, its place and how to fix it, on one line")),
} satisfies Shape<ErrorBody>);

/** The names of all members of a NewPlant. */
export const memberNames = Object.keys(newPlantSchema.shape) as readonly (keyof NewPlant)[];

/** Rules of a member. The schema checks them. */
interface MemberRules {
  /** Follows "must be" in a message. */
  readonly mustBe: string;
  /** The error of an absent value; undefined for an optional member. */
  readonly missing?: ErrorKind;
  /** The error of a value of another type. */
  readonly wrongType: ErrorKind;
  /** The error of any other invalid value. */
  readonly outOfRange?: ErrorKind;
  /** True for a number in JSON. */
  readonly isNumber?: true;
}

/** The rules of every member. */
export const memberRules: Readonly<Record<keyof NewPlant, MemberRules>> = {
  id: {
    mustBe: `an integer from ${int64Min} to ${int64Max}`,
    missing: "idMissing",
    wrongType: "idNotInteger",
    outOfRange: "idOutOfRange",
    isNumber: true,
  },
  name: { mustBe: "a string", missing: "nameMissing", wrongType: "nameNotString" },
  tag: { mustBe: "a string or be left out", wrongType: "tagNotString" },
};

/** Checks whether a name is that of a member of a NewPlant. */
export function isMember(name: string): name is keyof NewPlant {
  return Object.hasOwn(memberRules, name);
}

/** Checks whether every NewPlant has a member. */
export function isRequired(member: keyof NewPlant): boolean {
  return memberRules[member].missing !== undefined;
}

/** Returns the members of a JSON object as the schema reads them: without rounding, and without other members. */
export function toCandidate(members: JsonObject): AllMembers<Record<keyof NewPlant, unknown>> {
  const id = members.get("id");
  return {
    id: (id instanceof JsonNumber ? toInteger(id.text) : undefined) ?? id,
    name: members.get("name"),
    tag: members.get("tag"),
  };
}

/** Converts the text of a flag, or of a cell in a table, to a JSON value. */
export function toMemberValue(member: string, text: string): JsonValue {
  const isNumber = isMember(member) && memberRules[member].isNumber;
  // The text of a number is checked by the rules for JSON numbers.
  return isNumber ? new JsonNumber(text || "empty") : text;
}
