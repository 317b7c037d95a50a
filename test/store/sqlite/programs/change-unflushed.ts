/**
 * Changes a store like a server that is killed between the write of a commit and its flush. The commit is in the log, but only
 * in the cache of the operating system. Arguments: the file, the SQL of the change.
 */
import { loadSqlite } from "../../../../src/store/sqlite/driver.ts";

const [, , path = "", sql = ""] = process.argv;
const { DatabaseSync } = await loadSqlite();
const database = new DatabaseSync(path);
database.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL");
database.exec(sql);
process.kill(process.pid, "SIGKILL");
