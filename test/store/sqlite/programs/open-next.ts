/** Opens a store as a next version would, and prints "opened" or the error. Argument: the file. */
import { openDatabase } from "../../../../src/store/sqlite/database.ts";
import { loadSqlite } from "../../../../src/store/sqlite/driver.ts";
import { nextSchema } from "../next-schema.ts";

const [, , path = ""] = process.argv;
try {
  openDatabase(await loadSqlite(), path, { schema: nextSchema }).close();
  console.log("opened");
} catch (error) {
  console.log(String(error));
}
