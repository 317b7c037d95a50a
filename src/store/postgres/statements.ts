/** The statements on plants and tokens. */
import type { ClientBase } from "pg";
import type { NewPlant } from "../../core/plant.ts";
import type {
  EndedToken,
  PlantFilter,
  PlantQuery,
  TokenRecord,
  TokenState,
} from "../../core/store.ts";
import { maxPageSize, plantSize } from "../pages.ts";
import {
  findTokenVersion,
  plantColumns,
  type PlantRow,
  plantTexts,
  replacedColumns,
  tokenIntegers,
  type TokenRow,
  tokenTexts,
  toStoredPlant,
  toTokenRecord,
  toTokenValues,
} from "../sql-tables.ts";

const columns = plantColumns.join();

/** The arrays of {@link toColumnArrays}, the first parameters of a statement. */
const sentColumns = plantColumns
  .map((name, index) => `$${index + 1}::${plantTexts.includes(name) ? "text" : "int8"}[]`)
  .join();

const sameColumns = plantColumns
  .map((name) => `plants.${name} IS NOT DISTINCT FROM sent.${name}`)
  .join(" AND ");

const insertSent = `INSERT INTO plants (${columns})
  SELECT ${columns} FROM unnest(${sentColumns}) AS sent (${columns})
  ON CONFLICT (id)`;

type Ids = ReadonlySet<bigint>;

async function queryIds(client: ClientBase, sql: string, values: unknown[]): Promise<Ids> {
  const { rows } = await client.query<{ id: string }>(sql, values);
  return new Set(rows.map(({ id }) => BigInt(id)));
}

/**
 * Inserts plants, except those whose id is stored already.
 *
 * @param plants in ascending order of ids
 * @returns the ids of the inserted plants
 */
export function insertPlants(client: ClientBase, plants: readonly NewPlant[]): Promise<Ids> {
  return queryIds(client, `${insertSent} DO NOTHING RETURNING id`, toColumnArrays(plants));
}

/**
 * Locks plants until the end of the transaction, in ascending order of ids so that servers do not deadlock.
 *
 * @returns the ids of the locked plants, without the unknown ones
 */
export function lockPlants(client: ClientBase, ids: readonly bigint[]): Promise<Ids> {
  const lock = "SELECT id FROM plants WHERE id = ANY ($1::int8[]) ORDER BY id FOR UPDATE";
  return queryIds(client, lock, [ids.map(String)]);
}

/**
 * Compares plants with the stored ones, in the database, so that stored plants are not transferred.
 *
 * @returns for each of `plants`, whether it equals the stored one; undefined if nothing is stored for its id
 */
export async function comparePlants(
  client: ClientBase,
  plants: readonly NewPlant[],
): Promise<readonly (boolean | undefined)[]> {
  const { rows } = await client.query<{ number: string; same: boolean }>(
    `SELECT number, ${sameColumns} AS same
    FROM unnest(${sentColumns}) WITH ORDINALITY AS sent (${columns}, number)
    JOIN plants ON plants.id = sent.id`,
    toColumnArrays(plants),
  );
  const byNumber = new Map(rows.map(({ number, same }) => [Number(number), same]));
  // PostgreSQL counts from 1.
  return plants.map((_, index) => byNumber.get(index + 1));
}

/** Stores plants, replacing those that their ids had before. @param plants in ascending order of ids */
export async function replacePlants(
  client: ClientBase,
  plants: readonly NewPlant[],
): Promise<void> {
  await client.query(`${insertSent} DO UPDATE SET ${replacedColumns}`, toColumnArrays(plants));
}

export interface Transaction {
  readonly xid: string;
  /** Names the run of the server: after a crash or a failover that lost a transaction, its id can be that of another one. */
  readonly run: string;
}

export async function findTransaction(client: ClientBase): Promise<Transaction> {
  // The statistics begin again when PostgreSQL recovers from the crash of one of its processes.
  const { rows } = await client.query<Transaction>(`
    SELECT pg_current_xact_id() AS xid, concat(pg_postmaster_start_time(), ', ', stats_reset) AS run
    FROM pg_stat_bgwriter`);
  return rows[0] as Transaction;
}

/** Returns which transactions were committed, of those that have ended. */
export async function findCommitted(
  client: ClientBase,
  xids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (xids.length === 0) return new Set();
  // PostgreSQL rejects ids of the future, which a failover can leave.
  const { rows } = await client.query<{ xid: string }>(
    `SELECT xid FROM unnest($1::xid8[]) AS xid
    WHERE CASE WHEN xid < pg_snapshot_xmax(pg_current_snapshot()) THEN pg_xact_status(xid) END = 'committed'`,
    [xids],
  );
  return new Set(rows.map(({ xid }) => xid));
}

export async function deletePlants(client: ClientBase, ids: readonly bigint[]): Promise<void> {
  await client.query("DELETE FROM plants WHERE id = ANY ($1::int8[])", [ids.map(String)]);
}

export async function findPlant(client: ClientBase, id: bigint): Promise<NewPlant | undefined> {
  const { rows } = await client.query<PlantRow<string, string>>(
    `SELECT ${columns} FROM plants WHERE id = $1`,
    [`${id}`],
  );
  return rows.map((row) => toStoredPlant(row, fromSqlText))[0];
}

const textSize = plantTexts.map((name) => ` + coalesce(octet_length(${name}), 0)`).join("");

/** Returns stored plants in the order of their ids, at most a page (see pages.ts). */
export async function listPlants(
  client: ClientBase,
  { limit, ...filter }: PlantQuery,
): Promise<readonly NewPlant[]> {
  const { where, values } = toConditions(filter);
  // PostgreSQL knows the size of a text without reading it.
  const { rows } = await client.query<PlantRow<string, string>>(
    `SELECT * FROM (
      SELECT *, sum(${plantSize}${textSize}) OVER (
        ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS size_before
      FROM (
        SELECT ${columns} FROM plants ${where} ORDER BY id LIMIT ${Math.min(limit, maxPageSize / plantSize)}
      ) AS found
    ) AS sized
    WHERE coalesce(size_before, 0) < ${maxPageSize} ORDER BY id`,
    values,
  );
  return rows.map((row) => toStoredPlant(row, fromSqlText));
}

export async function countPlants(client: ClientBase, filter: PlantFilter): Promise<number> {
  const { where, values } = toConditions(filter);
  const { rows } = await client.query<{ count: string }>(
    `SELECT count(*) AS count FROM plants ${where}`,
    values,
  );
  return Number(rows[0]?.count);
}

function toConditions({ after, tag }: PlantFilter) {
  const values: string[] = [];
  const conditions = ["true"];
  if (after !== undefined) conditions.push(`id > $${values.push(`${after}`)}`);
  if (tag !== undefined) conditions.push(`tag = $${values.push(toSqlText(tag))}`);
  return { where: `WHERE ${conditions.join(" AND ")}`, values };
}

function toColumnArrays(plants: readonly NewPlant[]): unknown[] {
  const toSqlValue = (value: bigint | string | undefined): string | null => {
    if (value === undefined) return null;
    return typeof value === "bigint" ? `${value}` : toSqlText(value);
  };
  return plantColumns.map((name) => plants.map((plant) => toSqlValue(plant[name])));
}

const tokenColumns = [...tokenTexts, ...tokenIntegers].join();

export async function insertToken(client: ClientBase, token: TokenRecord): Promise<void> {
  await client.query(
    `INSERT INTO plantstore_tokens (${tokenColumns})
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (digest) DO NOTHING`,
    toTokenValues(token, toSqlText),
  );
}

export async function readTokenState(
  client: ClientBase,
  knownVersion: string | undefined,
): Promise<TokenState> {
  // Before the tokens, so that a change after it is found by the next read.
  const { rows } = await client.query<{ version: string }>(findTokenVersion("plantstore_tokens"));
  const version = rows[0]?.version ?? "";
  return version === knownVersion ? { version } : { version, tokens: await findTokens(client) };
}

export async function findTokens(client: ClientBase): Promise<readonly TokenRecord[]> {
  const { rows } = await client.query<TokenRow<string>>(`
    SELECT ${tokenColumns} FROM plantstore_tokens ORDER BY issued_at, added`);
  return rows.map((row) => toTokenRecord(row, fromSqlText));
}

/** Sets the ends of a token, except where it has earlier ones. */
export async function endToken(
  client: ClientBase,
  { digest, expiresAtMs, revokedAtMs }: EndedToken,
): Promise<void> {
  // LEAST ignores NULL.
  await client.query(
    `UPDATE plantstore_tokens
    SET expires_at = LEAST(expires_at, $2), revoked_at = LEAST(revoked_at, $3) WHERE digest = $1`,
    [toSqlText(digest), expiresAtMs, revokedAtMs],
  );
}

/** Records the day on which tokens were used, unless a later day is recorded. */
export async function recordTokenUse(
  client: ClientBase,
  digests: readonly string[],
  day: number,
): Promise<void> {
  await client.query(
    `UPDATE plantstore_tokens SET last_used_day = $1
    WHERE digest = ANY ($2::text[]) AND (last_used_day IS NULL OR last_used_day < $1)`,
    [day, digests.map(toSqlText)],
  );
}

const escapeSymbol = "\u241B";
const nulSymbol = "\u2400";

export function toSqlText(text: string): string {
  return text.replace(/[\0\u241B]/g, (character) =>
    character === "\0" ? escapeSymbol + nulSymbol : escapeSymbol + escapeSymbol,
  );
}

/** Decodes a stored string. A ␛ before any other character, which only another program writes, stays. */
export function fromSqlText(stored: string): string {
  return stored.replace(/\u241B([\u2400\u241B])/g, (_, symbol) =>
    symbol === nulSymbol ? "\0" : escapeSymbol,
  );
}
