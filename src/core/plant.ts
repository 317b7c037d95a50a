/**
 * Plants and Errors: types and JSON, for server and client (contract.md "Given"). Everything that handles the members of a
 * plant one by one is here or in `plant-schema.ts`. CONTRIBUTING.md "Add a member" lists the other places.
 */

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

/** T with a value for every member, so that an optional member cannot be forgotten. */
export type AllMembers<T> = { readonly [Member in keyof Required<T>]: T[Member] };

/**
 * Follows each function that handles the members one by one: it does not compile if T has members besides the named ones. The
 * error names them.
 */
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
