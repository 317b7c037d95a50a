/** The schema, as the steps that lead to it. A step that was released never changes; a new one is appended. */
import type { ClientBase } from "pg";
import { isRolledBack, type Meaning, createStoreError, toCode } from "./failure.ts";

/**
 * Step n, counted from 1, leads from version n - 1 of the schema to version n. A step can be repeated, also from its
 * middle: not every compatible database undoes changes of the schema together with their transaction.
 */
const steps: readonly string[] = [
  `
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
    added int8 NOT NULL GENERATED ALWAYS AS IDENTITY -- grows with every token
  );
  `,
  // In days since the epoch, in UTC.
  "ALTER TABLE plantstore_tokens ADD COLUMN IF NOT EXISTS last_used_day int8",
];

const record = `
  CREATE TABLE IF NOT EXISTS plantstore_migrations (
    version int8 PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

/**
 * Brings the schema to the version that this program knows, and records each step. The tables are in the current schema
 * of the connection; that `plantstore_migrations` is there makes them a plant store's.
 *
 * Servers may start together without a lock of any kind, since no kind of lock is known to all compatible databases:
 * creating the record waits for the one who is creating it, and then fails as {@link isRace} tells; whoever comes later
 * finds the steps recorded.
 *
 * @param place for messages
 * @param mustExist whether it is refused when there are no tables yet
 * @throws StoreError `unusable` when the tables are somebody else's or from a newer version; nothing is changed then
 */
export async function migrate(
  client: ClientBase,
  place: string,
  mustExist: boolean,
): Promise<void> {
  const isPlantStore = await recognise(client, place);
  if (!isPlantStore && mustExist) throw createStoreError(missing, place);
  if (isPlantStore && (await readVersion(client, place)) === steps.length) return;
  await client.query("BEGIN");
  await client.query(record);
  const version = await readVersion(client, place);
  for (const [index, step] of steps.entries()) {
    if (index < version) continue;
    await client.query(step);
    await client.query(
      "INSERT INTO plantstore_migrations (version) VALUES ($1) ON CONFLICT (version) DO NOTHING",
      [index + 1],
    );
  }
  await client.query("COMMIT");
}

/**
 * Makes sure that the schema is the one that this program knows, and changes nothing.
 *
 * @param place for messages
 * @throws StoreError `unusable`
 */
export async function checkVersion(client: ClientBase, place: string): Promise<void> {
  if (!(await recognise(client, place))) throw createStoreError(missing, place);
  const version = await readVersion(client, place);
  if (version < steps.length) throw createStoreError(older, place);
}

/** Whether {@link migrate} failed because another server did the same, and is to be repeated. */
export function isRace(error: unknown): boolean {
  return isRolledBack(error) || alreadyThere.includes(toCode(error));
}

/** unique_violation in the catalogue, duplicate_table, duplicate_object */
const alreadyThere = ["23505", "42P07", "42710"];

/** Whether the current schema has a plant store in it; false when there is nothing yet. */
async function recognise(client: ClientBase, place: string): Promise<boolean> {
  // One statement, because others may be creating the tables. The catalogue has what this user may not read, too.
  const { rows } = await client.query<{ schema: string | null; tables: string[] }>(`
    SELECT current_schema() AS schema, ARRAY(
      SELECT relname::text FROM pg_catalog.pg_class
      JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = current_schema()
        AND relname IN ('plants', 'plantstore_tokens', 'plantstore_migrations')
    ) AS tables`);
  const schema = rows[0]?.schema ?? undefined;
  const tables = rows[0]?.tables ?? [];
  if (schema === undefined) throw createStoreError(noSchema, place);
  if (tables.includes("plantstore_migrations")) return true;
  if (tables.length > 0) throw createStoreError(foreign(schema, tables), place);
  return false;
}

async function readVersion(client: ClientBase, place: string): Promise<number> {
  const { rows } = await client.query<{ version: string | null }>(
    "SELECT max(version) AS version FROM plantstore_migrations",
  );
  const version = Number(rows[0]?.version ?? 0);
  if (version > steps.length) throw createStoreError(newer(version), place);
  return version;
}

const noSchema: Meaning = {
  reason: "unusable",
  complaint:
    "has none of the schemas in this connection's search_path: create one, or name another with ?options=-c%20search_path=NAME",
};

const missing: Meaning = {
  reason: "unusable",
  complaint: 'has no plants yet: check its name, or start "plantstore serve" on it',
};

const older: Meaning = {
  reason: "unusable",
  complaint:
    'is from an older plantstore: start "plantstore serve" on it once, which brings it up to date',
};

function foreign(schema: string, tables: readonly string[]): Meaning {
  const complaint = `has ${tables.toSorted().join(" and ")} of another program in its schema ${schema}: choose another database, or another schema with ?options=-c%20search_path=NAME`;
  return { reason: "unusable", complaint };
}

function newer(version: number): Meaning {
  const complaint = `is from a newer plantstore (its schema is ${version}, this one knows ${steps.length}): install that version`;
  return { reason: "unusable", complaint };
}
