/** A plant, its int64 id, and its JSON (contract.md "Given" and "Body"). */

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

/** A NewPlant whose id may also be a safe integer, as a program can write it. */
export type PlantInput = Omit<NewPlant, "id"> & { readonly id: bigint | number };

/** Body of an error response. */
export interface ErrorBody {
  /** A number of the error table. Another service can send any int32. */
  readonly error: number;
  /** One line of text. */
  readonly message: string;
}

/** T with a value for every member, so that an optional member cannot be forgotten. */
export type AllMembers<T> = { readonly [Member in keyof Required<T>]: T[Member] };

/** Stands below a function that handles each member of T. If T has further members, the compiler names them in an error. */
export type Handles<T, Named extends keyof T> = keyof T extends Named
  ? unknown
  : Exclude<keyof T, Named>;

/** Converts a Plant to JSON; omits the id of a NewPlant. */
export function toPlantJson({ name, tag }: Plant): string {
  const nameMember = `{"name":${toJsonString(name)}`;
  return tag === undefined ? `${nameMember}}` : `${nameMember},"tag":${toJsonString(tag)}}`;
}
toPlantJson satisfies Handles<Plant, "name" | "tag">;

/** Converts a NewPlant to JSON with the exact id. */
export function toNewPlantJson(plant: NewPlant): string {
  return `{"id":${plant.id},${toPlantJson(plant).slice(1)}`;
}

/** Checks whether two plants with the same id are equal. */
export function isSamePlant(a: Plant, b: Plant): boolean {
  return a.name === b.name && a.tag === b.tag;
}
isSamePlant satisfies Handles<Plant, "name" | "tag">;

/** Returns the length of the text of a plant, in UTF-16 code units. */
export function toTextLength({ name, tag = "" }: Plant): number {
  return name.length + tag.length;
}
toTextLength satisfies Handles<Plant, "name" | "tag">;

/** Returns a Plant without the members that are undefined. */
export function toPlant({ name, tag }: Plant): Plant {
  return tag === undefined ? { name } : { name, tag };
}
toPlant satisfies Handles<Plant, "name" | "tag">;

/** Returns a NewPlant without the members that are undefined. */
export function toNewPlant({ id, name, tag }: AllMembers<NewPlant>): NewPlant {
  return tag === undefined ? { id, name } : { id, name, tag };
}
toNewPlant satisfies Handles<NewPlant, "id" | "name" | "tag">;

/** Text without characters that JSON escapes. */
const plainText = /^[ !#-[\]-~]*$/;

/** Equals JSON.stringify, in a third of the time for plain text. */
function toJsonString(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Smallest id: −2^63. */
export const int64Min = -(2n ** 63n);
/** Largest id: 2^63 − 1. */
export const int64Max = 2n ** 63n - 1n;

const numberParts = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Matches nearly every id; 18 digits always fit in int64. */
const plainInteger = /^-?(?:0|[1-9]\d{0,17})$/;

/** Maximum number of digits of an int64; a longer integer is out of range. */
const maxDigits = 19;

/**
 * Converts a JSON number text (RFC 8259 section 6) to an integer without rounding. `1`, `1.0`, `1e3` and `10e-1`
 * are integers, and `-0` is 0. An integer outside int64 becomes the nearest value outside, `int64Max + 1n` or
 * `int64Min - 1n`, so that `1e999999999` costs no more than `1`.
 *
 * @returns undefined if the text is not a JSON number or its value is not an integer
 */
export function toInteger(text: string): bigint | undefined {
  if (plainInteger.test(text)) return BigInt(text);
  const parts = numberParts.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = "", fraction = "", exponentText = "0"] = parts;

  // value = digits × 10^exponent; the digits neither start nor end with a zero.
  const leadingCut = `${whole}${fraction}`.replace(/^0+/, "");
  const digits = withoutTrailingZeros(leadingCut);
  if (digits === "") return 0n;
  // Number() can round or overflow a huge exponent, but never across the comparisons below.
  const exponent = Number(exponentText) - fraction.length + (leadingCut.length - digits.length);
  if (exponent < 0) return undefined;

  const isNegative = sign === "-";
  if (digits.length + exponent > maxDigits) return isNegative ? int64Min - 1n : int64Max + 1n;
  const magnitude = BigInt(digits) * 10n ** BigInt(exponent);
  const value = isNegative ? -magnitude : magnitude;
  if (value > int64Max) return int64Max + 1n;
  return value < int64Min ? int64Min - 1n : value;
}

/** `/0+$/` would take quadratic time for long runs of zeros before another digit. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}
