/** Rows of plants, their texts, and plants packed for another thread. */
import { attempt } from "../../core/attempt.ts";
import { isBytes } from "../../core/messages.ts";
import { type AllMembers, type Handles, type NewPlant, toNewPlant } from "../../core/plant.ts";
import {
  type ConflictPolicy,
  type CommitEntry,
  type PlantFilter,
  StoreError,
} from "../../core/store.ts";
import type { SqliteStatement } from "./driver.ts";

/** A row of a plant. */
export interface PlantRow extends Record<keyof NewPlant, unknown> {
  readonly id: bigint;
  readonly name: StoredText;
  readonly tag: StoredText | null;
}

const columns = `id, ${selectText("name")}, ${selectText("tag")}`;
// -1e19 is below every id.
const filter = "id > ifnull(?, -1e19) AND (? IS NULL OR tag = CAST(? AS TEXT))";

/** Prepares the statements that name the members. */
export function preparePlantStatements(prepare: (sql: string) => SqliteStatement) {
  return {
    insertPlant: prepare(`
      INSERT INTO plants (id, name, tag) VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT))
      ON CONFLICT (id) DO NOTHING`),
    findSamePlant: prepare(`
      SELECT 1 FROM plants WHERE id = ? AND name = CAST(? AS TEXT) AND tag IS CAST(? AS TEXT)`),
    replacePlant: prepare(`
      UPDATE plants SET name = CAST(? AS TEXT), tag = CAST(? AS TEXT) WHERE id = ?`),
    findPlant: prepare(`SELECT ${columns} FROM plants WHERE id = ?`),
    // Node 22: its SQLite before 22.20 rejects values for numbered parameters such as ?1.
    listPlants: prepare(`SELECT ${columns} FROM plants WHERE ${filter} ORDER BY id`),
    countPlants: prepare(`SELECT count(*) AS count FROM plants WHERE ${filter}`),
  };
}

type PlantStatements = ReturnType<typeof preparePlantStatements>;

/** Stores a plant unless its id has one. @returns whether it is stored */
export function insertPlant(
  { insertPlant: statement }: PlantStatements,
  { id, name, tag }: NewPlant,
): boolean {
  return Number(statement.run(id, toSqlText(name), toSqlText(tag)).changes) === 1;
}
insertPlant satisfies Handles<NewPlant, "id" | "name" | "tag">;

/** Checks whether the stored plant of an id is this one. */
export function isStored({ findSamePlant }: PlantStatements, { id, name, tag }: NewPlant): boolean {
  return findSamePlant.get(id, toSqlText(name), toSqlText(tag)) !== undefined;
}
isStored satisfies Handles<NewPlant, "id" | "name" | "tag">;

/** Stores a plant instead of the one that its id has. */
export function replacePlant(
  { replacePlant: statement }: PlantStatements,
  { id, name, tag }: NewPlant,
): void {
  statement.run(toSqlText(name), toSqlText(tag), id);
}
replacePlant satisfies Handles<NewPlant, "id" | "name" | "tag">;

/** Converts a row. */
export function toStoredPlant({ id, name, tag }: PlantRow): NewPlant {
  return toNewPlant({
    id,
    name: fromSqlText(name),
    tag: tag === null ? undefined : fromSqlText(tag),
  });
}

/** Converts rows one by one, as they are read. */
export function* toStoredPlants(rows: Iterable<PlantRow>): Generator<NewPlant, void, undefined> {
  for (const row of rows) yield toStoredPlant(row);
}

/** Returns the values of a filter in a statement. */
export function toFilterValues({ afterId, tag }: PlantFilter) {
  const tagText = toSqlText(tag);
  return [afterId ?? null, tagText, tagText] as const;
}

/** Reads every plant, row by row, for {@link findDamage}: text as bytes. */
export const readAllPlants =
  "SELECT id, CAST(name AS BLOB) AS name, CAST(tag AS BLOB) AS tag FROM plants ORDER BY id";

/** Describes the damage in a row of {@link readAllPlants}; undefined for a sound plant. */
export function findDamage({ id, name, tag }: Record<keyof PlantRow, unknown>): string | undefined {
  if (typeof id !== "bigint") return `the id ${String(id)} is invalid`;
  if (!isSqlText(name)) return `the name of plant ${id} is not UTF-8`;
  return tag === null || isSqlText(tag) ? undefined : `the tag of plant ${id} is not UTF-8`;
}
findDamage satisfies Handles<NewPlant, "id" | "name" | "tag">;

/**
 * Plants in columns, for another thread. Objects take four times as long to copy, most of it for the bigint in each of
 * them.
 */
export interface PackedPlants extends Record<keyof NewPlant, unknown> {
  readonly id: BigInt64Array;
  readonly name: readonly string[];
  readonly tag: readonly (string | undefined)[];
}

/** Changes in columns. A deletion has an id only. */
export interface PackedEntries extends PackedPlants {
  readonly actions: readonly (ConflictPolicy | "delete")[];
}

/** Packs plants for another thread. */
export function packPlants(plants: readonly NewPlant[]): PackedPlants {
  return {
    id: BigInt64Array.from(plants, ({ id }) => id),
    name: plants.map(({ name }) => name),
    tag: plants.map(({ tag }) => tag),
  };
}

/** Returns the members of a packed plant. */
export function unpackMembers(
  { id, name, tag }: PackedPlants,
  index: number,
): AllMembers<NewPlant> {
  return { id: id[index] as bigint, name: name[index] as string, tag: tag[index] };
}

/**
 * Packs changes for another thread.
 *
 * @throws StoreError `failed` when an id is outside int64, where it would become a different id
 */
export function packEntries(entries: readonly CommitEntry[]): PackedEntries {
  const plants = entries.map((entry) =>
    entry.kind === "create" ? entry.plant : { id: entry.id, name: "" },
  );
  const packed = packPlants(plants);
  for (const [index, { id }] of plants.entries()) {
    if (packed.id[index] !== id) throw new StoreError("failed", `id ${id} is outside int64`);
  }
  return {
    ...packed,
    actions: entries.map((entry) => (entry.kind === "create" ? entry.onConflict : entry.kind)),
  };
}

/** Unpacks plants from another thread. */
export function unpackPlants(packed: PackedPlants): NewPlant[] {
  return Array.from(packed.id, (_, index) => toNewPlant(unpackMembers(packed, index)));
}

/** A text in a row. */
export type StoredText = Uint8Array | string;

const encoder = new TextEncoder();
// Without ignoreBOM, a U+FEFF at the beginning of a text would be dropped.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Converts a text for `CAST(? AS TEXT)`; undefined becomes NULL. Only text with a NUL becomes bytes, because they make an
 * insert 50 % slower. Node 22: empty bytes are bound as NULL.
 */
export function toSqlText(text: string | undefined): Uint8Array | string | null {
  if (text === undefined) return null;
  return text.includes("\0") ? encoder.encode(text) : text;
}

/** Returns the SQL of a column for {@link fromSqlText}. */
export function selectText(column: string): string {
  return `CASE WHEN instr(${column}, char(0)) THEN CAST(${column} AS BLOB) ELSE ${column} END AS ${column}`;
}

/** Converts the result of {@link selectText}. */
export function fromSqlText(text: StoredText): string {
  return typeof text === "string" ? text : decoder.decode(text);
}

/** Checks whether a result of `CAST(column AS BLOB)` is text in UTF-8. */
function isSqlText(value: unknown): boolean {
  return isBytes(value) && attempt(() => strictDecoder.decode(value)) !== undefined;
}
