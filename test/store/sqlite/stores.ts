/** SQLite stores and connections to them, which are closed when the test ends. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { PlantStore, StoreEngine, StoreReader } from "../../../src/core/store.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { loadSqlite, type SqliteDatabase } from "../../../src/store/sqlite/driver.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { openSqliteReader } from "../../../src/store/sqlite/reader.ts";
import { createTemporaryDirectory, type OnEnd } from "../../helpers/temporary-directory.ts";

export const provider = await loadSqlite();

/** Returns the path of a missing file in an empty directory. */
export async function createPath(onEnd?: OnEnd): Promise<string> {
  return join(await createTemporaryDirectory(onEnd), "plants.db");
}

export async function openEngine(path: string): Promise<StoreEngine> {
  const engine = await openSqliteEngine(path);
  onTestFinished(() => engine.close());
  return engine;
}

/** Opens the store as a server does, with its engine behind group commit. */
export async function openServedStore(path: string): Promise<PlantStore> {
  const store = await openStore(`sqlite:${path}`);
  onTestFinished(() => store.close());
  return store;
}

export async function openReader(path: string): Promise<StoreReader> {
  const reader = await openSqliteReader(path);
  onTestFinished(() => reader.close());
  return reader;
}

/** Opens another connection, as a tool of SQLite does. */
export function connect(path: string): SqliteDatabase {
  const database = new provider.DatabaseSync(path);
  onTestFinished(() => database.close());
  return database;
}

/** Copies the files that a process leaves when it is killed now. @returns the path of the copy */
export async function copyCrashed(path: string, copy?: string): Promise<string> {
  const target = copy ?? (await createPath());
  for (const suffix of ["", "-wal", "-journal"]) {
    await copyFile(path + suffix, target + suffix).catch(() => undefined);
  }
  return target;
}
