/** Reads a store as a whole, of this version or an older one: copies it, and checks all of it. */
import { dirname } from "node:path";
import type { StoreError } from "../../core/store.ts";
import { createStoreError } from "../store-failure.ts";
import type { StoreFile } from "./database-file.ts";
import { openDatabaseToRead } from "./database.ts";
import { createDamageError, isWriteFailure } from "./sqlite-error.ts";
import { assertUpgradable, findMissingPart, sqliteSchema } from "./migrations.ts";
import { findDamage, type PlantRow, readAllPlants } from "./plants.ts";
import { loadSqlite, type SqliteDatabase } from "./provider.ts";
import { whileLocked } from "./transaction.ts";

/** File to read as a whole. */
export interface WholeFileTarget extends StoreFile {
  readonly access: "whole";
}

/** Contents of a store. */
export interface StoreContents {
  readonly plants: number;
  readonly tokens: number;
  /** Version of its schema. */
  readonly version: number;
}

/** A store to copy or to check. Others may write to it meanwhile. */
export type WholeFile = Awaited<ReturnType<typeof openWholeFile>>;

/**
 * Opens a store to read.
 *
 * @throws StoreError or an error of SQLite, as its methods do
 */
export async function openWholeFile(
  { path, realPath }: Pick<WholeFileTarget, "path" | "realPath">,
  schema = sqliteSchema,
) {
  const provider = await loadSqlite();
  const blank = new provider.DatabaseSync(":memory:");
  const assertReadable = (database: SqliteDatabase): number =>
    assertUpgradable(database, path, schema);
  const database = openDatabaseToRead(provider, realPath, assertReadable);
  const count = (table: string): number => {
    const row = database.prepare(`SELECT count(*) AS count FROM ${table}`).get();
    return (row as { count: number }).count;
  };

  return {
    /**
     * Copies the contents that the store has at the start into an empty file. The copy is not flushed.
     *
     * @returns the number of plants in the copy
     */
    copyTo(copyPath: string): number {
      try {
        // A snapshot: unlike the backup interface of SQLite, it does not start again when others write.
        database.exec("PRAGMA query_only = OFF");
        database.prepare("VACUUM INTO ?").run(copyPath);
        database.prepare("ATTACH ? AS copy").run(copyPath);
        return count("copy.plants");
      } catch (error) {
        throw isWriteFailure(error) ? createCopyError(path, copyPath, error) : error;
      }
    },
    /** Searches the file and every plant for damage; throws what it finds first. */
    check(): StoreContents {
      // https://sqlite.org/pragma.html#pragma_integrity_check
      const row = whileLocked(() => database.prepare("PRAGMA integrity_check(1)").get());
      const { integrity_check: finding } = row as { integrity_check: string };
      if (finding !== "ok") throw createDamageError(path, finding);
      const version = assertReadable(database);
      const missing = findMissingPart(database, blank, version, schema);
      if (missing !== undefined) throw createDamageError(path, `the ${missing} is missing`);
      return { plants: checkPlants(database, path), tokens: count("tokens"), version };
    },
    close(): void {
      database.close();
      blank.close();
    },
  };
}

function createCopyError(path: string, copyPath: string, cause: unknown): StoreError {
  const problem = `cannot be copied to ${dirname(copyPath)}: free some space there, or check both disks`;
  return createStoreError({ reason: "full", problem }, path, cause);
}

/** Checks every plant. @returns their number */
function checkPlants(database: SqliteDatabase, path: string): number {
  const statement = database.prepare(readAllPlants);
  statement.setReadBigInts(true);
  let plants = 0;
  for (const row of statement.iterate()) {
    const damage = findDamage(row as Record<keyof PlantRow, unknown>);
    if (damage !== undefined) throw createDamageError(path, damage);
    plants++;
  }
  return plants;
}
