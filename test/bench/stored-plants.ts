/** Compares a store with the requests of a run. A run that lost a plant is not a valid result. */
import { loadSqlite } from "../../src/store/sqlite/driver.ts";
import { type IdOrder, tag as sentTag, toId, toName } from "./requests.ts";

/** A row of the table `plants`. */
export interface StoredPlant {
  readonly id: bigint;
  readonly name: string;
  readonly tag: string | null;
}

/** The table `plants` of a SQLite file. */
export async function readSqlitePlants(path: string): Promise<StoredPlant[]> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  try {
    const statement = database.prepare("SELECT id, name, tag FROM plants");
    statement.setReadBigInts(true);
    return statement.all() as StoredPlant[];
  } finally {
    database.close();
  }
}

/**
 * Checks that each plant is one that was sent, whole, and that there are as many as were acknowledged. Beyond those there
 * may be creates in flight when the load ended: committed, but without a response.
 *
 * @throws Error that says what is wrong
 */
export function checkPlants(
  plants: Iterable<StoredPlant>,
  sent: number,
  acknowledged: number,
  ids: IdOrder,
): void {
  let count = 0;
  for (const { id, name, tag } of plants) {
    const n = Number(name.slice(toName(0).length - 1));
    if (!(n >= 1 && n <= sent) || id !== toId(n, ids) || name !== toName(n) || tag !== sentTag) {
      throw new Error(`the store holds a plant that was not sent: ${id} ${name} ${tag}`);
    }
    count += 1;
  }
  if (count < acknowledged || count > sent) {
    throw new Error(`${acknowledged} of ${sent} were acknowledged, and ${count} are in the store`);
  }
}
