/** Reads a plant out of JSON: the schema of its members, and the error that names every invalid one (contract.md "Body"). */
import * as z from "zod/mini";
import { type ErrorKind, type Problem, RequestError } from "./errors.ts";
import {
  decodeJsonText,
  JsonNumber,
  type JsonMembers,
  type JsonValue,
  type ParsedJson,
  readJson,
} from "./json.ts";
import { quoteInput } from "./messages.ts";
import {
  type AllMembers,
  type ErrorBody,
  int64Max,
  int64Min,
  type NewPlant,
  type Plant,
  toInteger,
  toNewPlant,
  toPlant,
} from "./plant.ts";

/** Names a member in a message: `id` in a body, `--id` on the command line, `column id` in a table. */
export type NameMember = (member: string) => string;

/**
 * Reads a NewPlant from a body.
 *
 * @returns the plant, or a RequestError that names every broken rule and its member
 */
export function readNewPlant(body: Uint8Array): NewPlant | RequestError {
  const text = decodeJsonText(body);
  if (text instanceof RequestError) return text;
  const read = readJson(text, isMember);
  return read instanceof RequestError ? read : validateNewPlant(read.value, read.problems);
}

/** Result of {@link inspectNewPlant}. */
export interface PlantReading {
  readonly plant: NewPlant | RequestError;
  /** Id of the record, even if the record is invalid for another reason. Undefined without exactly one valid id. */
  readonly id?: bigint | undefined;
  /** Names of members that are not part of a NewPlant. The service ignores them. */
  readonly unknownMembers: readonly string[];
}

/** Reads a NewPlant, with the names of unknown members. @returns a RequestError if it is not JSON */
export function inspectNewPlant(body: Uint8Array): PlantReading | RequestError {
  const text = decodeJsonText(body);
  if (text instanceof RequestError) return text;
  const unknownMembers: string[] = [];
  const read = readJson(text, (name) => isMember(name) || (unknownMembers.push(name), false));
  return read instanceof RequestError ? read : inspectMembers(read, unknownMembers);
}

/** Checks members against the rules for a NewPlant. */
export function inspectMembers(
  { value, problems }: ParsedJson,
  unknownMembers: readonly string[],
  nameMember: NameMember = String,
): PlantReading {
  const plant = validateNewPlant(value, problems, nameMember);
  const isAmbiguous = problems.some(({ kind }) => kind === "duplicateMember");
  if (!isObject(value) || isAmbiguous) return { plant, unknownMembers };
  const isValid = !(plant instanceof RequestError);
  const id = isValid ? plant.id : newPlantSchema.shape.id.safeParse(toCandidate(value).id).data;
  return { plant, id, unknownMembers };
}

/**
 * Checks a value against the rules for a NewPlant. Ignores unknown members.
 *
 * @param found problems that are already known; the message names them first
 * @returns the plant, or a RequestError that names every broken rule and its member
 */
export function validateNewPlant(
  value: ParsedJson["value"],
  found: readonly Problem[] = [],
  nameMember: NameMember = String,
): NewPlant | RequestError {
  if (!isObject(value)) {
    const message = `expected an object such as {"id":1,"name":"fern"} but found ${describeJson(value)}`;
    return RequestError.naming([...found, { kind: "notObject", message }]);
  }
  const result = newPlantSchema.safeParse(toCandidate(value));
  if (result.success && found.length === 0) return result.data;
  const broken = (result.error?.issues ?? []).map(({ path, code }) =>
    toProblem(path[0] as keyof NewPlant, code === "invalid_type", value, nameMember),
  );
  return RequestError.naming([...found, ...broken]);
}

/** Describes the rule that a member breaks. */
function toProblem(
  member: keyof NewPlant,
  isWrongType: boolean,
  members: JsonMembers,
  nameMember: NameMember,
): Problem {
  const { mustBe, missing, wrongType, outOfRange = wrongType } = memberRules[member];
  const value = members.get(member);
  if (value === undefined && missing !== undefined) {
    return { kind: missing, message: `${nameMember(member)} is missing: add ${mustBe}` };
  }
  const message = `${nameMember(member)} must be ${mustBe} (got ${describeJson(value)})`;
  return { kind: isWrongType ? wrongType : outOfRange, message };
}

/** Parses the Plant in a response of status 200; undefined for any other body. Ignores unknown members. */
export function parsePlant(body: Uint8Array): Plant | undefined {
  const members = parseObject(body, plantSchema.shape);
  const { data } = plantSchema.safeParse(members && toCandidate(members));
  return data && toPlant(data);
}

/** Parses the plants of a page, a JSON array, with exact ids; undefined for any other body. Ignores unknown members. */
export function parsePlants(body: Uint8Array): readonly NewPlant[] | undefined {
  const text = decodeJsonText(body);
  if (text instanceof RequestError) return undefined;
  const read = readJson(text, () => false);
  if (read instanceof RequestError || !isArray(read.value)) return undefined;
  const plants: NewPlant[] = [];
  for (const element of splitArray(text)) {
    const { value, problems } = readJson(element, isMember) as ParsedJson;
    const plant = validateNewPlant(value, problems);
    if (plant instanceof RequestError) return undefined;
    plants.push(toNewPlant({ tag: undefined, ...plant }));
  }
  return plants;
}

/** Splits the text of a valid array into the texts of its elements. */
function splitArray(text: string): readonly string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = findStringEnd(text, at);
    else if (character === "[" || character === "{") {
      if (++depth === 1) start = at + 1;
    } else if (character === "]" || character === "}") depth--;
    if (depth > 1 || (character !== "," && !(character === "]" && depth === 0))) continue;
    const element = text.slice(start, at);
    if (element.trim() !== "") elements.push(element);
    start = at + 1;
  }
  return elements;
}

/** @param start of the quotation mark that begins a string */
function findStringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

/** Parses the Error in a response of status 400; undefined for any other body. */
export function parseErrorBody(body: Uint8Array): ErrorBody | undefined {
  const members = parseObject(body, errorBodySchema.shape);
  const error = members?.get("error");
  const candidate = {
    error: error instanceof JsonNumber ? Number(toInteger(error.text)) : undefined,
    message: members?.get("message"),
  };
  return errorBodySchema.safeParse(candidate).data;
}

function isObject(value: ParsedJson["value"]): value is JsonMembers {
  return value instanceof Map;
}

function isArray(value: ParsedJson["value"]): boolean {
  return typeof value === "object" && "is" in value && value.is === "an array";
}

/** Reads members of the object in a response body; undefined for any other value. */
function parseObject(body: Uint8Array, names: object): JsonMembers | undefined {
  const text = decodeJsonText(body);
  if (text instanceof RequestError) return undefined;
  const read = readJson(text, (name) => Object.hasOwn(names, name));
  return !(read instanceof RequestError) && isObject(read.value) ? read.value : undefined;
}

/** Describes the text of a number; from a flag or a table, it can be any text. */
function describeNumber(text: string): string {
  return /^\S+$/.test(text) ? quoteInput(text) : `"${quoteInput(text)}"`;
}

/** Describes a value for a message. Does not quote strings: one could be a secret, where a member is expected. */
function describeJson(value: JsonValue | undefined): string {
  if (value instanceof JsonNumber) return describeNumber(value.text);
  return typeof value === "string" ? "a string" : String(value?.is);
}

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
  error: z.int32().check(z.describe("Number of the failure, from the list of errors")),
  message: z.string().check(z.describe("The problem, its place and how to fix it, on one line")),
} satisfies Shape<ErrorBody>);

export const memberNames = Object.keys(newPlantSchema.shape) as readonly (keyof NewPlant)[];

/** Rules of a member. The schema checks them. */
interface MemberRules {
  /** Follows "must be", or "add" for an absent value, in a message. */
  readonly mustBe: string;
  /** The error of an absent value; undefined for an optional member. */
  readonly missing?: ErrorKind;
  /** The error of a value of another type. */
  readonly wrongType: ErrorKind;
  /** The error of any other invalid value. */
  readonly outOfRange?: ErrorKind;
  readonly isNumber?: true;
}

const memberRules: Readonly<Record<keyof NewPlant, MemberRules>> = {
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

const memberSet: ReadonlySet<string> = new Set(memberNames);

/** Checks whether a name is that of a member of a NewPlant. */
export function isMember(name: string): name is keyof NewPlant {
  return memberSet.has(name);
}

/** Checks whether every NewPlant has a member. */
export function isRequired(member: keyof NewPlant): boolean {
  return memberRules[member].missing !== undefined;
}

/** Returns the members of a JSON object as the schema reads them: without rounding, and without other members. */
function toCandidate(members: JsonMembers): AllMembers<Record<keyof NewPlant, unknown>> {
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
