/** The engine on one SQLite file. */
import { resolve } from "node:path";
import { int64Max, int64Min } from "../../core/int64.ts";
import type { NewPlant } from "../../core/plant.ts";
import type { CreateRequest, CreateResult, StoreEngine, TokenRecord } from "../../core/store.ts";
import { openDatabase } from "./database.ts";
import { prepareDatabaseFile } from "./database-file.ts";
import { toStoreError } from "./failure.ts";
import { loadSqlite, type SqliteDatabase } from "./provider.ts";
import {
  type ListedPlantRow,
  type PlantRow,
  prepareStatements,
  type TokenRow,
} from "./statements.ts";
import { fromSqlText, toSqlText } from "./text.ts";
import { inTransaction } from "./transaction.ts";

/**
 * Opens a SQLite file as a store; creates it, and the directories above it, when it is missing.
 *
 * @param path taken literally; absolute, or relative to the working directory
 * @throws StoreError
 */
export async function openSqliteEngine(path: string): Promise<StoreEngine> {
  const provider = await loadSqlite();
  const absolutePath = resolve(path);
  prepareDatabaseFile(absolutePath);
  let database: SqliteDatabase | undefined;
  try {
    database = await openDatabase(provider, absolutePath);
    return createSqliteEngine(database, absolutePath);
  } catch (error) {
    database?.close();
    throw toStoreError(error, absolutePath);
  }
}

/**
 * An engine on a connection, which it owns from then on.
 *
 * @param path for messages
 */
export function createSqliteEngine(database: SqliteDatabase, path: string): StoreEngine {
  // Held together with the database, by the closures below: alone they would not keep it alive.
  const statements = prepareStatements(database);
  let isOpen = true;

  async function attempt<T>(work: () => T): Promise<T> {
    try {
      return work();
    } catch (error) {
      throw toStoreError(error, path);
    }
  }

  function create({ plant, onConflict }: CreateRequest): CreateResult {
    const { id } = plant;
    const name = toSqlText(plant.name);
    const tag = plant.tag === undefined ? null : toSqlText(plant.tag);
    if (Number(statements.insertPlant.run(id, name, tag).changes) === 1) return "created";
    if (statements.findSamePlant.get(id, name, tag) !== undefined) return "unchanged";
    if (onConflict === "reject") return "conflict";
    statements.replacePlant.run(name, tag, id);
    return "replaced";
  }

  return {
    commit: (requests) => attempt(() => inTransaction(database, () => requests.map(create))),
    get: (id) =>
      attempt(() => {
        const row = statements.findPlant.get(id) as PlantRow | undefined;
        return row && toPlant(id, row);
      }),
    list: ({ afterId, tag, limit }) =>
      attempt(() => {
        if (afterId === int64Max) return [];
        const fromId = afterId === undefined ? int64Min : afterId + 1n;
        const tagText = tag === undefined ? null : toSqlText(tag);
        const rows = statements.listPlants.all(fromId, tagText, BigInt(limit));
        return (rows as ListedPlantRow[]).map((row) => toPlant(row.id, row));
      }),
    checkWritable: () =>
      attempt(() => {
        statements.recordCheck.run(BigInt(Date.now()));
      }),
    addToken: (token) =>
      attempt(() => {
        statements.insertToken.run(
          toSqlText(token.digest),
          toSqlText(token.prefix),
          toSqlText(token.name),
          BigInt(token.issuedAtMs),
          toSqlTime(token.expiresAtMs),
          toSqlTime(token.revokedAtMs),
        );
      }),
    listTokens: () =>
      attempt(() => (statements.listTokens.all() as TokenRow[]).map((row) => toToken(row))),
    close: () =>
      attempt(() => {
        if (!isOpen) return;
        isOpen = false;
        database.close();
      }),
  };
}

function toPlant(id: bigint, { name, tag }: PlantRow): NewPlant {
  const plant = { id, name: fromSqlText(name) };
  return tag === null ? plant : { ...plant, tag: fromSqlText(tag) };
}

function toToken(row: TokenRow): TokenRecord {
  return {
    digest: fromSqlText(row.digest),
    prefix: fromSqlText(row.prefix),
    name: fromSqlText(row.name),
    issuedAtMs: Number(row.issued_at),
    expiresAtMs: fromSqlTime(row.expires_at),
    revokedAtMs: fromSqlTime(row.revoked_at),
  };
}

function toSqlTime(timeMs: number | undefined): bigint | null {
  return timeMs === undefined ? null : BigInt(timeMs);
}

function fromSqlTime(time: bigint | null): number | undefined {
  return time === null ? undefined : Number(time);
}
