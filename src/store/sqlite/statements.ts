/** Statements of the engine, prepared once. */
import { preparePlantStatements } from "./plants.ts";
import { tokenColumns } from "../token-row.ts";
import type { SqliteDatabase, SqliteStatement } from "./provider.ts";
import { selectText } from "./text.ts";

/** The statements of a connection. */
export type Statements = ReturnType<typeof prepareStatements>;

/**
 * Prepares the statements on a database. The caller must hold the database as long as the statements: once the garbage
 * collector has freed the database, its statements use freed memory.
 *
 * Text is compared by its bytes: BINARY is the default collation.
 */
export function prepareStatements(database: SqliteDatabase) {
  function prepare(sql: string): SqliteStatement {
    const statement = database.prepare(sql);
    // On inserts too. Node 26: stores an id above 2^53, and then throws when it cannot return it as a number.
    statement.setReadBigInts(true);
    return statement;
  }

  return {
    ...preparePlantStatements(prepare),
    deletePlant: prepare("DELETE FROM plants WHERE id = ?"),
    findLastSeq: prepare("SELECT seq FROM feed_end"),
    findDeleted: prepare("SELECT 1 FROM deleted_plants LIMIT 1"),
    forgetDeleted: prepare("DELETE FROM deleted_plants WHERE id = ?"),
    findFeed: prepare("SELECT store_id FROM feed"),
    recordCheck: prepare("UPDATE last_check SET checked_at = ?"),
    insertToken: prepare(`
      INSERT INTO tokens (${tokenColumns})
      VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, ?)
      ON CONFLICT (digest) DO NOTHING`),
    listTokens: prepare(`
      SELECT ${["digest", "prefix", "name"].map(selectText).join()},
        issued_at, expires_at, revoked_at, last_used_day
      FROM tokens ORDER BY issued_at, rowid`),
    findTokenVersion: prepare("SELECT version FROM token_version"),
    endToken: prepare(`
      UPDATE tokens SET expires_at = min(ifnull(expires_at, ?), ifnull(?, expires_at)),
        revoked_at = min(ifnull(revoked_at, ?), ifnull(?, revoked_at))
      WHERE digest = CAST(? AS TEXT)`),
    removeToken: prepare("DELETE FROM tokens WHERE digest = CAST(? AS TEXT)"),
    noteTokenUse: prepare(`
      UPDATE tokens SET last_used_day = ? WHERE digest = CAST(? AS TEXT)
      AND (last_used_day IS NULL OR last_used_day < ?)`),
  };
}
