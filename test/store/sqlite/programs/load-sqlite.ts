/** Loads SQLite. The argument "no-builtin" hides Node's own SQLite. */
import type { StoreError } from "../../../../src/core/store.ts";
import { loadSqlite } from "../../../../src/store/sqlite/driver.ts";

if (process.argv[2] === "no-builtin") process.getBuiltinModule = () => undefined;
try {
  const { DatabaseSync } = await loadSqlite();
  new DatabaseSync(":memory:").close();
  console.log("loaded");
} catch (error) {
  console.log(`${String(error)} (${(error as StoreError).command})`);
}
