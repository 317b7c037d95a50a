/** The tables: finds, checks and creates them. */
import type { ClientBase } from "pg";
import { createStoreError, type FailureKind, unstarted, unusable } from "../store-failure.ts";
import { assertVersion, schemaVersion } from "../sql-tables.ts";

/** The tables of a new store. */
const tables = `
  CREATE TABLE plants (
    id int8 PRIMARY KEY,
    name text NOT NULL,
    tag text -- NULL: none; not the same as an empty one
  );
  COMMENT ON TABLE plants IS 'In name and tag, ␛␀ stands for the character NUL and ␛␛ for ␛';
  CREATE TABLE plantstore_tokens (
    digest text PRIMARY KEY, -- SHA-256, lower-case hexadecimal
    prefix text NOT NULL,
    name text NOT NULL,
    allow text, -- the operations that it may ask for, such as create,list; NULL: all
    issued_at int8 NOT NULL, -- all times: milliseconds since the epoch
    expires_at int8,
    revoked_at int8,
    last_used_day int8, -- days since the epoch, in UTC
    added int8 NOT NULL GENERATED ALWAYS AS IDENTITY -- grows with every token
  );
  INSERT INTO plantstore_migrations (version) VALUES (${schemaVersion});
`;

const record = `
  CREATE TABLE IF NOT EXISTS plantstore_migrations (
    version int8 PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

/** A schema that has the tables of a store, or can get them. */
interface FoundSchema {
  readonly name: string;
  readonly isStore: boolean;
  readonly isOnStandby: boolean;
}

/**
 * Finds the schema of the store: the first one of the connection's search_path. The table `plantstore_migrations` marks the tables
 * of a plant store.
 *
 * @throws StoreError `unusable`, also if a later schema of the path has a store instead
 */
export async function findSchema(
  client: ClientBase,
  store: string,
  mustExist: boolean,
): Promise<FoundSchema> {
  // The catalog lists tables without privileges too.
  const { rows } = await client.query<FoundSchema>(`
    SELECT name, EXISTS (
      SELECT FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = name AND relname = 'plantstore_migrations'
    ) AS "isStore", pg_is_in_recovery() AS "isOnStandby"
    FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, number) ORDER BY number`);
  const [first, ...others] = rows;
  if (first === undefined) throw createStoreError(noSchema, store);
  if (first.isStore) return first;
  const other = others.find(({ isStore }) => isStore);
  if (other !== undefined) throw createStoreError(otherSchema(first.name, other.name), store);
  if (mustExist) throw createStoreError(missing, store);
  return first;
}

/** Asserts that the store in the current schema has the version of this program. @throws StoreError `unusable` */
export async function assertCurrent(client: ClientBase, store: string): Promise<void> {
  assertVersion(await readVersion(client), store);
}

/** Creates the tables, in a transaction, if they are missing. Servers may start together: each waits for the others. */
export async function createTables(client: ClientBase): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtext('plantstore_migrations'))");
  await client.query(record);
  if ((await readVersion(client)) === 0) await client.query(tables);
}

/** @returns 0 without the tables */
async function readVersion(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ version: string | null }>(
    "SELECT max(version) AS version FROM plantstore_migrations",
  );
  return Number(rows[0]?.version ?? 0);
}

const noSchema = unusable(
  "has none of the schemas in this connection's search_path: create one, or name another with ?options=-c%20search_path=NAME",
);
const missing = unstarted("has no plants yet: check its name, or start a server on it", String);

function otherSchema(first: string, other: string): FailureKind {
  return unusable(
    `has no plants in ${first}, the first schema in this connection's search_path, but in its schema ${other}: name one of the two with ?options=-c%20search_path=NAME`,
  );
}
