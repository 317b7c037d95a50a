/** Stores and backups of them in files, for tests. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseStoreUrl } from "../../src/store/store-url.ts";
import { loadSqlite } from "../../src/store/sqlite/driver.ts";
import { createSqliteStore } from "./sqlite-store.ts";

/** Returns options of a backup or a restore that nothing stops. */
export function toWork(isForced = false) {
  return {
    isForced,
    signal: new AbortController().signal,
    onCopy: () => undefined,
    onReplaced: () => undefined,
  };
}

export const fern = { id: 1n, name: "fern", tag: "pot" };
const exotic = { id: -(2n ** 63n), name: "\0\u{1f335}\uFEFF", tag: "" };
const token = { digest: "ab".repeat(32), prefix: "pst_abcd", name: "ci", issuedAtMs: 1 };

/** Creates a store with plants and a token, and returns its path. */
export async function createStore(plants = [fern, exotic]): Promise<string> {
  return (await createSqliteStore(plants, [token])).replace("sqlite:", "");
}

/** Reads everything of a store. */
export async function readPlants(path: string) {
  const store = await parseStoreUrl(`sqlite:${path}`).openReader();
  try {
    return { plants: await store.list({ limit: 1000 }), tokens: await store.listTokens() };
  } finally {
    await store.close();
  }
}

/** Runs SQL on a file. */
export async function change(path: string, sql: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

/** Lists the files in the directory of a file. */
export async function listFiles(path: string): Promise<readonly string[]> {
  return (await readdir(join(path, ".."))).toSorted();
}

/** Creates plants that fill several pages. */
export function createPages() {
  return Array.from({ length: 500 }, (_, id) => ({
    id: BigInt(id),
    name: "plant",
    tag: "x".repeat(99),
  }));
}
