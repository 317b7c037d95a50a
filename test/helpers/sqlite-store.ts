/** A store in a file of its own, as a test wants it. */
import { join } from "node:path";
import type { NewPlant } from "../../src/core/plant.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/** Creates a store with these plants, closed, and gives its URL. It is removed when the test has ended. */
export async function createSqliteStore(plants: readonly NewPlant[]): Promise<string> {
  const url = `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`;
  const store = await openStore(url);
  await Promise.all(plants.map((plant) => store.create(plant, "reject")));
  await store.close();
  return url;
}
