/**
 * Uses a store while the garbage collector runs and other databases reuse the memory. Needs --expose-gc.
 * Argument: the file.
 */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { openStore } from "../../../../src/store/open-store.ts";
import { loadSqlite } from "../../../../src/store/sqlite/driver.ts";

const store = await openStore(`sqlite:${process.argv[2]}`);
const { DatabaseSync } = await loadSqlite();
const others = [];
const results = new Set<string>();
for (let id = 1n; id <= 50n; id++) {
  globalThis.gc?.();
  await endOfTurn();
  others.push(new DatabaseSync(":memory:"));
  results.add((await store.create({ id, name: "fern" }, "reject")).result);
}
console.log(...results);
