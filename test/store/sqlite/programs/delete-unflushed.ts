/**
 * Deletes a plant like a server that is killed between the write of a commit and its flush. The commit is in the log, but only
 * in the cache of the operating system. Arguments: the file, the id.
 */
import { loadSqlite } from "../../../../src/store/sqlite/driver.ts";

const [, , path = "", id = ""] = process.argv;
const { DatabaseSync } = await loadSqlite();
const database = new DatabaseSync(path);
database.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL");
database.exec(`DELETE FROM plants WHERE id = ${BigInt(id)}`);
process.kill(process.pid, "SIGKILL");
