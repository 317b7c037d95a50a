/** What the tables of both SQL engines share: the version of the schema, and the rows of plants and tokens. */
import type { ContractOperationId } from "../core/contract.ts";
import { type Handles, type NewPlant, toNewPlant } from "../core/plant.ts";
import type { TokenRecord } from "../core/store.ts";
import { createStoreError, unusable } from "./store-failure.ts";

/** The version of the schema of both engines. To change it, see "Change the schema" in CONTRIBUTING. */
export const schemaVersion = 7;

/** Asserts that this program can use the tables of a store. @throws StoreError `unusable` */
export function assertVersion(version: number, store: string): void {
  if (version === schemaVersion) return;
  const versions = `its schema has version ${version}, this plantstore has ${schemaVersion}`;
  const problem = `is of another plantstore (${versions}): export its plants with that one, then create them in a new store`;
  throw createStoreError(unusable(problem), store);
}

/** The columns of a plant, in the order of statements. */
const plantTypes: Readonly<Record<keyof NewPlant, "integer" | "text" | "text or null">> = {
  id: "integer",
  name: "text",
  tag: "text or null",
};

export const plantColumns = Object.keys(plantTypes) as readonly (keyof NewPlant)[];
/** Those that are text. */
export const plantTexts = plantColumns.filter((name) => plantTypes[name] !== "integer");
/** Those that are never NULL. */
export const requiredColumns = plantColumns.filter((name) => plantTypes[name] !== "text or null");

/** For ON CONFLICT DO UPDATE SET. An id that is set to itself would count as changed. */
export const replacedColumns = plantColumns
  .filter((name) => name !== "id")
  .map((name) => `${name} = excluded.${name}`)
  .join();

export interface PlantRow<Id, Text> extends Record<keyof NewPlant, unknown> {
  readonly id: Id;
  readonly name: Text;
  readonly tag: Text | null;
}

export function toStoredPlant<Text>(
  { id, name, tag }: PlantRow<bigint | string, Text>,
  fromSqlText: (text: Text) => string,
): NewPlant {
  return toNewPlant({
    id: BigInt(id),
    name: fromSqlText(name),
    tag: tag === null ? undefined : fromSqlText(tag),
  });
}
toStoredPlant satisfies Handles<NewPlant, "id" | "name" | "tag">;

export interface TokenRow<Text> {
  readonly digest: Text;
  readonly prefix: Text;
  readonly name: Text;
  readonly allow: Text | null;
  readonly issued_at: Integer;
  readonly expires_at: Integer | null;
  readonly revoked_at: Integer | null;
  readonly last_used_day: Integer | null;
}

type Integer = bigint | string;

/** The columns of tokens that are text, for statements. */
export const tokenTexts = ["digest", "prefix", "name", "allow"] as const;
/** The other columns, which are integers. */
export const tokenIntegers = ["issued_at", "expires_at", "revoked_at", "last_used_day"] as const;

/** Returns a statement that finds the version of the tokens (see TokenState): their number, and the sums of their times. */
export function findTokenVersion(table: string): string {
  const sums = ["issued_at", "expires_at", "revoked_at"].map(
    (column) => ` || ' ' || coalesce(sum(${column}), 0)`,
  );
  return `SELECT count(*)${sums.join("")} AS version FROM ${table}`;
}

/** Converts a token to the values of {@link tokenTexts} and {@link tokenIntegers}. */
export function toTokenValues<Text>(
  token: TokenRecord,
  toSqlText: (text: string) => Text,
): (Text | bigint | null)[] {
  const { digest, prefix, name, allow, issuedAtMs, expiresAtMs, revokedAtMs, lastUsedDay } = token;
  return [
    ...[digest, prefix, name].map(toSqlText),
    allow === undefined ? null : toSqlText(allow.join()),
    ...[issuedAtMs, expiresAtMs, revokedAtMs, lastUsedDay].map(toSqlInteger),
  ];
}

export function toSqlInteger(value: number | undefined): bigint | null {
  return value === undefined ? null : BigInt(value);
}

export function toTokenRecord<Text>(
  row: TokenRow<Text>,
  fromSqlText: (text: Text) => string,
): TokenRecord {
  return {
    digest: fromSqlText(row.digest),
    prefix: fromSqlText(row.prefix),
    name: fromSqlText(row.name),
    allow:
      row.allow === null
        ? undefined
        : (fromSqlText(row.allow).split(",") as readonly ContractOperationId[]),
    issuedAtMs: Number(row.issued_at),
    expiresAtMs: fromSqlInteger(row.expires_at),
    revokedAtMs: fromSqlInteger(row.revoked_at),
    lastUsedDay: fromSqlInteger(row.last_used_day),
  };
}

function fromSqlInteger(value: Integer | null): number | undefined {
  return value === null ? undefined : Number(value);
}
