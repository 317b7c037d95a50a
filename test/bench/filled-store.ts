/** A store with a million plants, to start trials from. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSqlite } from "../../src/store/sqlite/driver.ts";
import { sqlite } from "./peers.ts";
import { tag, toId, toName } from "./requests.ts";

/** A file that has to be removed. */
export interface FilledStore {
  readonly path: string;
  readonly plants: number;
  close(): Promise<void>;
}

const plants = 1_000_000;

/** Makes the store, with random ids. */
export async function openFilledStore(): Promise<FilledStore> {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-bench-"));
  const path = join(directory, "plants.db");
  // The tables are plantstore's own.
  await (await sqlite.start(directory)).stop();
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  const insert = database.prepare("INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)");
  database.exec("BEGIN");
  for (let n = 1; n <= plants; n += 1) {
    insert.run(toId(n, "random"), toName(n), tag);
  }
  database.exec("COMMIT");
  database.close();
  return { path, plants, close: () => rm(directory, { recursive: true, force: true }) };
}
