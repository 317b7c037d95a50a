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
import {
  type PlantRow,
  plantColumns,
  plantTexts,
  replacedColumns,
  requiredColumns,
  toStoredPlant,
} from "../sql-tables.ts";
import type { SqliteStatement } from "./driver.ts";

const names = plantColumns.join();
const isText = (name: keyof NewPlant): boolean => plantTexts.includes(name);
const selected = plantColumns.map((name) => (isText(name) ? selectText(name) : name)).join();
// -1e19 is below every id.
const filter = "id > ifnull(?, -1e19) AND (? IS NULL OR tag = CAST(? AS TEXT))";

/** For the values of {@link toValues}. */
const placeholders = plantColumns.map((name) => (isText(name) ? "CAST(? AS TEXT)" : "?")).join();
const insert = `INSERT INTO plants (${names}) VALUES (${placeholders}) ON CONFLICT (id)`;

/** Prepares the statements that name the members. The first three take the values of {@link toValues}. */
export function preparePlantStatements(prepare: (sql: string) => SqliteStatement) {
  return {
    insertPlant: prepare(`${insert} DO NOTHING`),
    findSamePlant: prepare(`SELECT 1 FROM plants WHERE (${names}) IS (${placeholders})`),
    replacePlant: prepare(`${insert} DO UPDATE SET ${replacedColumns}`),
    findPlant: prepare(`SELECT ${selected} FROM plants WHERE id = ?`),
    // Node 22: its SQLite before 22.20 rejects values for numbered placeholders such as ?1.
    listPlants: prepare(`SELECT ${selected} FROM plants WHERE ${filter} ORDER BY id`),
    countPlants: prepare(`SELECT count(*) AS count FROM plants WHERE ${filter}`),
  };
}

/** Returns the values of the columns, in their order. */
export function toValues({ id, name, tag }: NewPlant) {
  return [id, toSqlText(name), toSqlText(tag)] as const;
}
toValues satisfies Handles<NewPlant, "id" | "name" | "tag">;

export type StoredRow = PlantRow<bigint, StoredText>;

/** Converts rows one by one, as they are read. */
export function* toStoredPlants(rows: Iterable<StoredRow>): Generator<NewPlant, void, undefined> {
  for (const row of rows) yield toStoredPlant(row, fromSqlText);
}

export function toFilterValues({ after, tag }: PlantFilter) {
  const tagText = toSqlText(tag);
  return [after ?? null, tagText, tagText] as const;
}

const bytes = plantTexts.map((name) => `CAST(${name} AS BLOB) AS ${name}`).join();
/** Reads every plant, row by row, for {@link findDamage}: text as bytes. */
export const readAllPlants = `SELECT id, ${bytes} FROM plants ORDER BY id`;

/** Describes the damage in a row of {@link readAllPlants}; undefined for a sound plant. */
export function findDamage(row: Readonly<Record<keyof NewPlant, unknown>>): string | undefined {
  if (typeof row.id !== "bigint") return `the id ${String(row.id)} is invalid`;
  const damaged = plantTexts.find((name) =>
    row[name] === null ? requiredColumns.includes(name) : !isSqlText(row[name]),
  );
  return damaged && `the ${damaged} of plant ${row.id} is not UTF-8`;
}

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

export function packPlants(plants: readonly NewPlant[]): PackedPlants {
  return {
    id: BigInt64Array.from(plants, ({ id }) => id),
    name: plants.map(({ name }) => name),
    tag: plants.map(({ tag }) => tag),
  };
}

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

export function unpackPlants(packed: PackedPlants): NewPlant[] {
  return Array.from(packed.id, (_, index) => toNewPlant(unpackMembers(packed, index)));
}

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
