/** Reads a PostgreSQL database that is a store already, while servers write to it. */
import type { StoreReader } from "../../core/store.ts";
import { createDatabase } from "./database.ts";
import { createPostgresEngine } from "./engine.ts";
import { toStoreError } from "./failure.ts";
import { assertCurrent } from "./migrations.ts";
import { parsePostgresUrl } from "./postgres-url.ts";
import { assertFlushing, longLimits } from "./settings.ts";
import { loadTls } from "./tls.ts";

/**
 * Opens a store for reading; a standby server is sufficient. Nothing is created or changed.
 *
 * @param url as {@link parsePostgresUrl} describes it
 * @throws StoreError
 */
export async function openPostgresReader(url: string): Promise<StoreReader> {
  const location = parsePostgresUrl(url);
  const database = createDatabase(location, await loadTls(location), longLimits, false);
  const { place } = database;
  try {
    await database.read((client) => assertCurrent(client, place));
    return {
      ...createPostgresEngine(database, longLimits),
      // PostgreSQL itself can search for damage only for its administrator.
      async checkSoundness() {
        try {
          await database.read(async (client) => {
            const { rows } = await client.query<{ fsync: string }>("SHOW fsync");
            assertFlushing(rows[0]?.fsync, place);
          });
        } catch (error) {
          throw toStoreError(error, place);
        }
      },
    };
  } catch (error) {
    await database.close();
    throw toStoreError(error, place);
  }
}
