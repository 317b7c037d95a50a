/** Plants and Errors: types, schemas and JSON, for server and client (contract.md "Given"). */
import * as z from "zod/mini";
import { type Problem, RequestError } from "./errors.ts";
import { toInteger } from "./int64.ts";
import { JsonNumber, type JsonObject, type JsonValue, readJson } from "./json.ts";
import { decodeJsonText } from "./json-text.ts";
import { describeValue, type NamePlace, toProblem } from "./plant-problem.ts";

/** Body of a successful response. */
export interface Plant {
  /** The name of the plant; any string, including the empty string. */
  readonly name: string;
  /** Tag that specifies the type of the plant. */
  readonly tag?: string | undefined;
}

/** Body of a create request. */
export interface NewPlant extends Plant {
  /** Identification number of the plant; −2^63 … 2^63 − 1. */
  readonly id: bigint;
}

/** Body of an error response. */
export interface ErrorBody {
  /** A number of the error table; another service can send any int32. */
  readonly error: number;
  /** One line of text. */
  readonly message: string;
}

/** Validates and describes a Plant. */
export const plantSchema = z.object({
  name: z.string().check(z.describe("The name of the plant")),
  tag: z.optional(z.string()).check(z.describe("Tag that specifies the type of the plant")),
}) satisfies z.ZodMiniType<Plant>;

/** Validates and describes a NewPlant. */
export const newPlantSchema = z.object({
  id: z.int64().check(z.describe("Identification number of the plant")),
  ...plantSchema.shape,
}) satisfies z.ZodMiniType<NewPlant>;

/** Validates and describes an Error body. */
export const errorBodySchema = z.object({
  error: z.int32().check(z.describe("Number of the failure, from the list in the operation")),
  message: z.string().check(z.describe("The problem, its place and how to fix it, on one line")),
}) satisfies z.ZodMiniType<ErrorBody>;

const namePlain: NamePlace = (member) => member;

/**
 * Reads a NewPlant from a body.
 *
 * @returns the plant, or a RequestError that names every broken rule and its place
 */
export function readNewPlant(body: Uint8Array): NewPlant | RequestError {
  const text = decodeJsonText(body);
  if (text instanceof RequestError) return text;
  const read = readJson(text);
  return read instanceof RequestError ? read : validateNewPlant(read.value, read.problems);
}

/** Result of {@link inspectNewPlant}. */
export interface PlantReading {
  readonly plant: NewPlant | RequestError;
  /** Id of the record, even if the record is invalid for another reason. Undefined without exactly one valid id. */
  readonly id?: bigint | undefined;
  /** Names of members that are part of neither a NewPlant nor an entry of a feed. The service ignores them. */
  readonly unknownMembers: readonly string[];
  /** The member `cursor` of an entry of a feed, if it is a string. */
  readonly cursor?: string | undefined;
  /** True for the entry of a deleted plant: an id without a name, and `"deleted":true`. */
  readonly isDeletion?: boolean;
}

/**
 * Checks a value against the rules for a NewPlant and reports unknown members.
 *
 * @param found problems that are already known; the message names them first
 */
export function inspectNewPlant(
  value: JsonValue,
  found: readonly Problem[] = [],
  namePlace: NamePlace = namePlain,
): PlantReading {
  const plant = validateNewPlant(value, found, namePlace);
  if (!isObject(value)) return { plant, unknownMembers: [] };
  const id = plant instanceof RequestError ? findId(value, found) : plant.id;
  const others = [...value.keys()].filter((name) => !Object.hasOwn(newPlantSchema.shape, name));
  if (others.length === 0) return { plant, id, unknownMembers: others };
  const cursor = value.get("cursor");
  const isDeletion =
    id !== undefined &&
    found.length === 0 &&
    value.get("deleted") === true &&
    !value.has("name") &&
    !value.has("tag");
  return {
    plant,
    id,
    unknownMembers: isDeletion ? [] : others.filter((name) => name !== "cursor"),
    cursor: typeof cursor === "string" ? cursor : undefined,
    isDeletion,
  };
}

function findId(members: JsonObject, found: readonly Problem[]): bigint | undefined {
  if (found.some(({ kind }) => kind === "duplicateMember")) return undefined;
  const id = members.get("id");
  const integer = id instanceof JsonNumber ? toInteger(id.text) : undefined;
  return newPlantSchema.shape.id.safeParse(integer).data;
}

/**
 * Checks a value against the rules for a NewPlant. Ignores unknown members.
 *
 * @param found problems that are already known; the message names them first
 * @returns the plant, or a RequestError that names every broken rule and its place
 */
export function validateNewPlant(
  value: JsonValue,
  found: readonly Problem[] = [],
  namePlace: NamePlace = namePlain,
): NewPlant | RequestError {
  if (!isObject(value)) {
    const message = `expected an object such as {"id":1,"name":"fern"} but found ${describeValue(value)}`;
    return RequestError.naming([...found, { kind: "notObject", message }]);
  }
  const id = value.get("id");
  const result = newPlantSchema.safeParse({
    id: (id instanceof JsonNumber ? toInteger(id.text) : undefined) ?? id,
    name: value.get("name"),
    tag: value.get("tag"),
  });
  if (result.success && found.length === 0) return result.data;
  const broken = (result.error?.issues ?? []).map(({ path, code }) =>
    toProblem(String(path[0]), code, value, namePlace),
  );
  return RequestError.naming([...found, ...broken]);
}

/** Parses the Plant in a response of status 200; undefined for any other body. Ignores unknown members. */
export function parsePlant(body: Uint8Array): Plant | undefined {
  const members = parseObject(body);
  const tag = members?.get("tag");
  const candidate = { name: members?.get("name"), ...(tag !== undefined && { tag }) };
  return plantSchema.safeParse(candidate).data;
}

/** Parses the Error in a response of status 400; undefined for any other body. */
export function parseErrorBody(body: Uint8Array): ErrorBody | undefined {
  const members = parseObject(body);
  const error = members?.get("error");
  const candidate = {
    error: error instanceof JsonNumber ? Number(toInteger(error.text)) : undefined,
    message: members?.get("message"),
  };
  return errorBodySchema.safeParse(candidate).data;
}

/** Converts a Plant to JSON; omits the id of a NewPlant. */
export function toPlantJson({ name, tag }: Plant): string {
  const nameMember = `{"name":${toJsonString(name)}`;
  return tag === undefined ? `${nameMember}}` : `${nameMember},"tag":${toJsonString(tag)}}`;
}

/** Text without characters that JSON escapes. */
const plainText = /^[ !#-[\]-~]*$/;

/** Equals JSON.stringify, in a third of the time for plain text. */
function toJsonString(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Converts a NewPlant to JSON with the exact id. */
export function toNewPlantJson(plant: NewPlant): string {
  return `{"id":${plant.id},${toPlantJson(plant).slice(1)}`;
}

function isObject(value: JsonValue): value is JsonObject {
  return value instanceof Map;
}

/** Reads the object in a response body; undefined for any other value. */
function parseObject(body: Uint8Array): JsonObject | undefined {
  const text = decodeJsonText(body);
  if (text instanceof RequestError) return undefined;
  const read = readJson(text);
  return !(read instanceof RequestError) && isObject(read.value) ? read.value : undefined;
}
