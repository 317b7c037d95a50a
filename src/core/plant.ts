/** What a plant is, at both ends of the wire (CONTRACT part 1). */
import * as z from "zod/mini";
import { type Problem, RequestError } from "./errors.ts";
import { toInteger } from "./int64.ts";
import { decodeJsonText, JsonNumber, type JsonObject, type JsonValue, readJson } from "./json.ts";
import { describeValue, type NamePlace, toProblem } from "./plant-problem.ts";

/** The answer to a create. */
export interface Plant {
  /** The name of the plant; any string, the empty one included. */
  readonly name: string;
  /** Tag that specifies the type of the plant. */
  readonly tag?: string | undefined;
}

/** What a create sends. */
export interface NewPlant extends Plant {
  /** Identification number of the plant; −2^63 … 2^63 − 1. */
  readonly id: bigint;
}

/** The answer to a create that failed. */
export interface ErrorBody {
  /** A row of the error table for this service; any int32 for another one. */
  readonly error: number;
  /** One line for a person. */
  readonly message: string;
}

/** Checks a Plant, and describes it. */
export const plantSchema = z.object({
  name: z.string().check(z.describe("The name of the plant")),
  tag: z.optional(z.string()).check(z.describe("Tag that specifies the type of the plant")),
}) satisfies z.ZodMiniType<Plant>;

/** Checks a NewPlant, and describes it. */
export const newPlantSchema = z.object({
  id: z.int64().check(z.describe("Identification number of the plant")),
  ...plantSchema.shape,
}) satisfies z.ZodMiniType<NewPlant>;

/** Checks an Error body, and describes it. */
export const errorBodySchema = z.object({
  error: z
    .int32()
    .check(z.describe("The kind of failure: one of the numbers that the operation lists")),
  message: z
    .string()
    .check(z.describe("What is wrong, where, and what would be right, on one line")),
}) satisfies z.ZodMiniType<ErrorBody>;

const toPointer: NamePlace = (member) => `/${member}`;

/**
 * The plant that a body holds.
 *
 * @throws RequestError that names every broken rule, with its place
 */
export function parseNewPlant(body: Uint8Array): NewPlant {
  const plant = readNewPlant(body);
  if (plant instanceof RequestError) throw plant;
  return plant;
}

/**
 * Reads a NewPlant from a body.
 *
 * @returns the plant, or a RequestError that names every broken rule and its place
 */
export function readNewPlant(body: Uint8Array): NewPlant | RequestError {
  const text = decodeJsonText(body);
  if (text instanceof RequestError) return text;
  const read = readJson(text);
  return read instanceof RequestError ? read : judgeNewPlant(read.value, read.problems, toPointer);
}

/**
 * Checks a value against the rules for a NewPlant. Unknown members are passed over.
 *
 * @param found problems that are known already; they are named first
 * @throws RequestError that names every broken rule, with its place
 */
export function checkNewPlant(
  value: JsonValue,
  found: readonly Problem[] = [],
  namePlace: NamePlace = toPointer,
): NewPlant {
  const plant = judgeNewPlant(value, found, namePlace);
  if (plant instanceof RequestError) throw plant;
  return plant;
}

function judgeNewPlant(
  value: JsonValue,
  found: readonly Problem[],
  namePlace: NamePlace,
): NewPlant | RequestError {
  if (!isObject(value)) {
    const message = `the body is ${describeValue(value)}: send one object such as {"id":1,"name":"fern"}`;
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

/** The Plant in an answer of status 200; undefined when it holds none. Members beyond a Plant's are dropped. */
export function parsePlant(body: Uint8Array): Plant | undefined {
  const members = parseObject(body);
  const tag = members?.get("tag");
  const candidate = { name: members?.get("name"), ...(tag !== undefined && { tag }) };
  return plantSchema.safeParse(candidate).data;
}

/** The Error in an answer of status 400; undefined when it holds none. */
export function parseErrorBody(body: Uint8Array): ErrorBody | undefined {
  const members = parseObject(body);
  const error = members?.get("error");
  const candidate = {
    error: error instanceof JsonNumber ? Number(toInteger(error.text)) : undefined,
    message: members?.get("message"),
  };
  return errorBodySchema.safeParse(candidate).data;
}

/** A Plant as JSON; takes a NewPlant too and leaves its id out. */
export function toPlantJson({ name, tag }: Plant): string {
  const nameMember = `{"name":${toJsonString(name)}`;
  return tag === undefined ? `${nameMember}}` : `${nameMember},"tag":${toJsonString(tag)}}`;
}

/** Needs no escapes, and is in JSON as long as it is. */
const plainText = /^[ !#-[\]-~]*$/;

/** What JSON.stringify gives, in a third of the time for plain text. */
function toJsonString(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A NewPlant as JSON, the id with all its digits. */
export function toNewPlantJson(plant: NewPlant): string {
  return `{"id":${plant.id},${toPlantJson(plant).slice(1)}`;
}

function isObject(value: JsonValue): value is JsonObject {
  return value instanceof Map;
}

/** Reads the object in a response body; undefined when it holds none. */
function parseObject(body: Uint8Array): JsonObject | undefined {
  const text = decodeJsonText(body);
  if (text instanceof RequestError) return undefined;
  const read = readJson(text);
  return !(read instanceof RequestError) && isObject(read.value) ? read.value : undefined;
}
