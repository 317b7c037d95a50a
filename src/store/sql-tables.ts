/** Parts of the tables that both SQL engines share: steps of the schema, and rows of tokens. */
import type { ContractOperationId } from "../core/contract.ts";
import type { TokenRecord } from "../core/store.ts";
import { createStoreError, unusable } from "./store-failure.ts";

/** SQL that creates the schema, or changes the schema of the step before it. */
export interface SchemaStep {
  /** Version of the schema after the step. */
  readonly version: number;
  /** The first release of plantstore with this version. */
  readonly release: string;
  readonly sql: string;
}

/**
 * The step that creates the schema, and those that change it, in the order of their versions. The first one upgrades the
 * version before it by `upgradeSql`. A released step never changes; the next version of the schema appends one. Servers of older versions may have the store open meanwhile and
 * must keep working: a new column has a default or is filled by a trigger.
 */
export type Schema = readonly [SchemaStep & { readonly upgradeSql: string }, ...SchemaStep[]];

/**
 * Returns the steps that a store lacks.
 *
 * @param version of the store; 0 for an empty one
 * @param store its URL or path, for messages
 * @throws StoreError `unusable` when the store has a version that no step upgrades, or one after the last step
 */
export function findMissingSteps(
  schema: Schema,
  version: number,
  store: string,
): readonly SchemaStep[] {
  const [{ version: first, upgradeSql }, ...others] = schema;
  const newest = schema.at(-1)?.version ?? first;
  const versions = `(its schema has version ${version}, this plantstore has ${newest})`;
  if (version > newest) {
    const problem = `is from a newer plantstore ${versions}: install that version`;
    throw createStoreError(unusable(problem), store);
  }
  if (version === first - 1) return [{ ...schema[0], sql: upgradeSql }, ...others];
  if (version !== 0 && version < first) {
    const problem = `is from an older plantstore ${versions}: export its plants with that version, then create them in a new store`;
    throw createStoreError(unusable(problem), store);
  }
  return schema.filter((step) => step.version > version);
}

/**
 * Describes an upgrade that a server has made, for its log.
 *
 * @param version of the store before
 * @param store its URL or path
 * @returns undefined if the store was empty or had the version of this program
 */
export function describeUpgrade(
  schema: Schema,
  version: number,
  store: string,
): string | undefined {
  const { version: newest, release } = schema.at(-1) ?? schema[0];
  if (version === 0 || version === newest) return undefined;
  return `the store ${store} was upgraded from version ${version} to version ${newest}, which needs plantstore ${release} or later`;
}

/** A store that lacks steps, for a command that only reads it. */
export const older = unusable(
  'is from an older plantstore: start "plantstore serve" on it once to upgrade it',
);

/** A row with all columns. */
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

/** Converts an integer for a column that may be NULL. */
export function toSqlInteger(value: number | undefined): bigint | null {
  return value === undefined ? null : BigInt(value);
}

/** Converts a row. */
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
    expiresAtMs: toNumber(row.expires_at),
    revokedAtMs: toNumber(row.revoked_at),
    lastUsedDay: toNumber(row.last_used_day),
  };
}

function toNumber(value: Integer | null): number | undefined {
  return value === null ? undefined : Number(value);
}
