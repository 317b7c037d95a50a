/** The schema, and what brings a database to its version. */
import type { ClientBase } from "pg";
import { createStoreError, type FailureKind, unusable } from "../store-failure.ts";
import { findMissingSteps, type Schema } from "../sql-tables.ts";

/** The schema of this version. */
export const postgresSchema: Schema = [
  {
    version: 6,
    release: "1.0.0",
    sql: `
      CREATE TABLE IF NOT EXISTS plants (
        id int8 PRIMARY KEY,
        name text NOT NULL,
        tag text -- NULL: none; not the same as an empty one
      );
      COMMENT ON TABLE plants IS 'In name and tag, ␛␀ stands for the character NUL and ␛␛ for ␛';
      CREATE TABLE IF NOT EXISTS plantstore_tokens (
        digest text PRIMARY KEY, -- SHA-256, lower-case hexadecimal
        prefix text NOT NULL,
        name text NOT NULL,
        issued_at int8 NOT NULL, -- all times: milliseconds since the epoch
        expires_at int8,
        revoked_at int8,
        last_used_day int8, -- days since the epoch, in UTC
        added int8 NOT NULL GENERATED ALWAYS AS IDENTITY -- grows with every token
      );
    `,
    upgradeSql: `
      DROP FUNCTION IF EXISTS
        plantstore_set_xid, plantstore_add_deletions, plantstore_change_token_version CASCADE;
      DROP TABLE IF EXISTS plantstore_deletions, plantstore_token_version;
      ALTER TABLE plants DROP COLUMN IF EXISTS xid;
    `,
  },
];

const record = `
  CREATE TABLE IF NOT EXISTS plantstore_migrations (
    version int8 PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

/**
 * Finds the schema of the store: the first one of the connection's search_path. The table `plantstore_migrations` marks the tables
 * of a plant store.
 *
 * @param store for messages
 * @throws StoreError `unusable` if a later schema of the path has a store instead
 */
export async function findSchema(client: ClientBase, store: string): Promise<string> {
  const { rows } = await client.query<{ name: string; isStore: boolean }>(`
    SELECT name, EXISTS (
      SELECT FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = name AND relname = 'plantstore_migrations'
    ) AS "isStore"
    FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, number) ORDER BY number`);
  const [first, ...others] = rows;
  if (first === undefined) throw createStoreError(noSchema, store);
  const other = others.find(({ isStore }) => isStore);
  if (other === undefined || first.isStore) return first.name;
  throw createStoreError(otherSchema(first.name, other.name), store);
}

/**
 * Checks whether the schema has the version that this program needs. The tables are in the
 * current schema of the connection.
 *
 * @param store for messages
 * @param mustExist whether to reject a schema without tables
 * @throws StoreError `unusable` when the tables belong to another program or cannot be upgraded
 */
export async function isCurrent(
  client: ClientBase,
  store: string,
  mustExist: boolean,
  schema = postgresSchema,
): Promise<boolean> {
  const tables = await findTables(client, store);
  if (tables.length === 0 && mustExist) throw createStoreError(missing, store);
  if (tables.length === 0) return false;
  return findMissingSteps(schema, await readVersion(client), store).length === 0;
}

/**
 * Applies the steps that a database lacks, and records each. Servers may start together: each waits for the others.
 *
 * @param client in a transaction
 * @param store for messages
 * @param lockMs time to wait for locks of transactions that use the tables: creates wait as long
 * @returns the version before; 0 if there were no tables
 */
export async function migrate(
  client: ClientBase,
  store: string,
  lockMs: number,
  schema = postgresSchema,
): Promise<number> {
  await client.query("SELECT pg_advisory_xact_lock(hashtext('plantstore_migrations'))");
  await client.query(`SET LOCAL lock_timeout = ${lockMs}`);
  await client.query(record);
  const before = await readVersion(client);
  for (const { version, sql } of findMissingSteps(schema, before, store)) {
    await client.query(sql);
    await client.query("INSERT INTO plantstore_migrations (version) VALUES ($1)", [version]);
  }
  return before;
}

/** Returns the plant store's tables in the current schema. */
async function findTables(client: ClientBase, store: string): Promise<readonly string[]> {
  // One statement, because another server may be creating the tables. The catalog lists tables without privileges too.
  const { rows } = await client.query<{ schema: string; tables: string[] }>(`
    SELECT current_schema() AS schema, ARRAY(
      SELECT relname::text FROM pg_catalog.pg_class
      JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = current_schema()
        AND relname IN ('plants', 'plantstore_tokens', 'plantstore_migrations')
    ) AS tables`);
  const { schema, tables } = rows[0] as (typeof rows)[number];
  if (tables.length === 0 || tables.includes("plantstore_migrations")) return tables;
  throw createStoreError(foreign(schema, tables), store);
}

/** @returns 0 without a step */
async function readVersion(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ version: string | null }>(
    "SELECT max(version) AS version FROM plantstore_migrations",
  );
  return Number(rows[0]?.version ?? 0);
}

const noSchema = unusable(
  "has none of the schemas in this connection's search_path: create one, or name another with ?options=-c%20search_path=NAME",
);
const missing = unusable('has no plants yet: check its name, or start "plantstore serve" on it');

function otherSchema(first: string, other: string): FailureKind {
  return unusable(
    `has no plants in ${first}, the first schema in this connection's search_path, but in its schema ${other}: name one of the two with ?options=-c%20search_path=NAME`,
  );
}

function foreign(schema: string, tables: readonly string[]): FailureKind {
  return unusable(
    `has ${tables.toSorted().join(" and ")} of another program in its schema ${schema}: choose another database, or another schema with ?options=-c%20search_path=NAME`,
  );
}
