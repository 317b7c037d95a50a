/** Reads a PostgreSQL database that is a store already, also while others write to it. */
import type { StoreReader } from "../../core/store.ts";
import { createConnections } from "./connections.ts";
import { createPostgresEngine } from "./engine.ts";
import { toStoreError } from "./failure.ts";
import { readerLimits } from "./limits.ts";
import { checkVersion } from "./migrations.ts";
import { parsePostgresUrl, toPlace } from "./postgres-url.ts";
import { checkDurability, prepareReader } from "./session.ts";
import { loadTls } from "./tls.ts";

/**
 * Opens a store to read it; a standby server will do. Nothing is created, and nothing in it is changed.
 *
 * @param url as {@link parsePostgresUrl} describes it
 * @throws StoreError
 */
export async function openPostgresReader(url: string): Promise<StoreReader> {
  const location = parsePostgresUrl(url);
  const place = toPlace(location);
  const tls = await loadTls(location);
  const connections = createConnections(location, tls, readerLimits, prepareReader);
  try {
    await connections.use((client) => checkVersion(client, place));
    return {
      ...createPostgresEngine(connections, place, readerLimits),
      // PostgreSQL has no such search of its own for whoever is not its administrator.
      async checkSoundness() {
        try {
          await connections.use((client) => checkDurability(client, place));
        } catch (error) {
          throw toStoreError(error, place);
        }
      },
    };
  } catch (error) {
    await connections.close();
    throw toStoreError(error, place);
  }
}
