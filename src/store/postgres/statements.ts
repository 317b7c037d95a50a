/**
 * Every statement of the engine. Ids go in and out as text, which is exact; texts are compared as bytes, because the
 * collation of a database's default is deterministic. Compatible databases take the same statements.
 */
import type { ClientBase } from "pg";
import type { NewPlant } from "../../core/plant.ts";
import type { PlantQuery, TokenRecord } from "../../core/store.ts";
import { fromSqlText, toSqlText } from "./text.ts";

/**
 * Text in one statement, in UTF-16 code units, each of them at most six bytes once it is escaped; the least that a
 * compatible database takes is 16 MiB.
 */
const maxStatementText = 2 ** 21;

interface PlantRow {
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
}

interface TokenRow {
  readonly digest: string;
  readonly prefix: string;
  readonly name: string;
  readonly issued_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_day: string | null;
}

/**
 * Stores those plants whose id has none.
 *
 * @param plants with ids that ascend
 * @returns the ids of those that were stored
 */
export async function insertPlants(
  client: ClientBase,
  plants: readonly NewPlant[],
): Promise<ReadonlySet<bigint>> {
  const inserted = new Set<bigint>();
  for (const part of toParts(plants)) {
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO plants (id, name, tag)
      SELECT id, name, tag FROM unnest($1::int8[], $2::text[], $3::text[]) AS given (id, name, tag)
      ON CONFLICT (id) DO NOTHING RETURNING id`,
      toColumns(part),
    );
    for (const { id } of rows) inserted.add(BigInt(id));
  }
  return inserted;
}

/**
 * Compares plants with the stored ones. They are compared there, so that no more comes back than an answer for each.
 *
 * @returns for each of `plants` whether it is the stored one; undefined when nothing of that id is stored
 */
export async function comparePlants(
  client: ClientBase,
  plants: readonly NewPlant[],
): Promise<readonly (boolean | undefined)[]> {
  const answers: (boolean | undefined)[] = [];
  for (const part of toParts(plants)) {
    const { rows } = await client.query<{ place: string; same: boolean }>(
      `SELECT place, plants.name = given.name AND plants.tag IS NOT DISTINCT FROM given.tag AS same
      FROM unnest($1::int8[], $2::text[], $3::text[], $4::int8[]) AS given (id, name, tag, place)
      JOIN plants ON plants.id = given.id`,
      [...toColumns(part), [...part.keys()]],
    );
    const byPlace = new Map(rows.map(({ place, same }) => [Number(place), same]));
    for (const place of part.keys()) answers.push(byPlace.get(place));
  }
  return answers;
}

/**
 * Stores plants whatever their ids had before.
 *
 * @param plants with ids that ascend
 */
export async function replacePlants(
  client: ClientBase,
  plants: readonly NewPlant[],
): Promise<void> {
  for (const part of toParts(plants)) {
    await client.query(
      `INSERT INTO plants (id, name, tag)
      SELECT id, name, tag FROM unnest($1::int8[], $2::text[], $3::text[]) AS given (id, name, tag)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, tag = excluded.tag`,
      toColumns(part),
    );
  }
}

/** Stores nothing, and fails as storing something would: a server that is read-only, tables that may not be written. */
export async function insertNothing(client: ClientBase): Promise<void> {
  await client.query("INSERT INTO plants (id, name) SELECT 0, '' WHERE false");
}

/** The stored plant of an id. */
export async function findPlant(client: ClientBase, id: bigint): Promise<NewPlant | undefined> {
  const { rows } = await client.query<PlantRow>("SELECT id, name, tag FROM plants WHERE id = $1", [
    `${id}`,
  ]);
  return rows.map(toPlant)[0];
}

/** Stored plants in the order of their ids. */
export async function listPlants(
  client: ClientBase,
  { afterId, tag, limit }: PlantQuery,
): Promise<readonly NewPlant[]> {
  const values = [`${limit}`];
  const conditions = ["true"];
  if (afterId !== undefined) conditions.push(`id > $${values.push(`${afterId}`)}`);
  if (tag !== undefined) conditions.push(`tag = $${values.push(toSqlText(tag))}`);
  const { rows } = await client.query<PlantRow>(
    `SELECT id, name, tag FROM plants WHERE ${conditions.join(" AND ")} ORDER BY id LIMIT $1`,
    values,
  );
  return rows.map(toPlant);
}

/** Stores a token, unless its digest is there already. */
export async function insertToken(client: ClientBase, token: TokenRecord): Promise<void> {
  await client.query(
    `INSERT INTO plantstore_tokens
      (digest, prefix, name, issued_at, expires_at, revoked_at, last_used_day)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (digest) DO NOTHING`,
    [
      toSqlText(token.digest),
      toSqlText(token.prefix),
      toSqlText(token.name),
      token.issuedAtMs,
      token.expiresAtMs,
      token.revokedAtMs,
      token.lastUsedDay,
    ],
  );
}

/** Every token, the oldest first. */
export async function findTokens(client: ClientBase): Promise<readonly TokenRecord[]> {
  const { rows } = await client.query<TokenRow>(`
    SELECT digest, prefix, name, issued_at, expires_at, revoked_at, last_used_day
    FROM plantstore_tokens ORDER BY issued_at, added`);
  return rows.map((row) => ({
    digest: fromSqlText(row.digest),
    prefix: fromSqlText(row.prefix),
    name: fromSqlText(row.name),
    issuedAtMs: Number(row.issued_at),
    expiresAtMs: fromSqlInteger(row.expires_at),
    revokedAtMs: fromSqlInteger(row.revoked_at),
    lastUsedDay: fromSqlInteger(row.last_used_day),
  }));
}

/** Revokes a token, unless it was revoked before. */
export async function revokeToken(
  client: ClientBase,
  digest: string,
  revokedAtMs: number,
): Promise<void> {
  await client.query(
    "UPDATE plantstore_tokens SET revoked_at = $1 WHERE digest = $2 AND revoked_at IS NULL",
    [revokedAtMs, toSqlText(digest)],
  );
}

/** Notes on which day tokens were used, unless a later day is noted. */
export async function noteTokenUses(
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

/** Pieces of at most {@link maxStatementText}; a plant that is longer is a piece of its own. */
function toParts(plants: readonly NewPlant[]): readonly (readonly NewPlant[])[] {
  const parts: NewPlant[][] = [];
  let room = 0;
  for (const plant of plants) {
    const length = plant.name.length + (plant.tag?.length ?? 0);
    if (length > room || parts.length === 0) {
      parts.push([]);
      room = maxStatementText;
    }
    parts.at(-1)?.push(plant);
    room -= length;
  }
  return parts;
}

function toColumns(plants: readonly NewPlant[]): unknown[] {
  return [
    plants.map(({ id }) => `${id}`),
    plants.map(({ name }) => toSqlText(name)),
    plants.map(({ tag }) => (tag === undefined ? null : toSqlText(tag))),
  ];
}

function toPlant({ id, name, tag }: PlantRow): NewPlant {
  const plant = { id: BigInt(id), name: fromSqlText(name) };
  return tag === null ? plant : { ...plant, tag: fromSqlText(tag) };
}

function fromSqlInteger(value: string | null): number | undefined {
  return value === null ? undefined : Number(value);
}
