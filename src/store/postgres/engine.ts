/** The engine on a PostgreSQL database, which any number of servers may share. */
import type { ClientBase } from "pg";
import type { StoreEngine } from "../../core/store.ts";
import { createCommit } from "./commit.ts";
import { type Connections, createConnections } from "./connections.ts";
import { isPassing, toStoreError } from "./failure.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { isRace, migrate } from "./migrations.ts";
import { parsePostgresUrl, toPlace } from "./postgres-url.ts";
import { repeatWhile } from "./repeat.ts";
import { prepareWriter } from "./session.ts";
import * as statements from "./statements.ts";
import { loadTls } from "./tls.ts";

/**
 * Whoever asks whether the store is writable wants to know how it is now; but that a connection was lost while nobody used
 * it is no answer.
 */
const checkPatienceMs = 500;

/** How an engine is opened. */
interface PostgresEngineOptions {
  readonly limits?: Limits | undefined;
  /** Whether a database without the tables is refused, instead of given them. */
  readonly mustExist?: boolean;
}

/**
 * Opens a database as a store, and creates its tables when they are missing.
 *
 * @param url as {@link parsePostgresUrl} describes it
 * @throws StoreError
 */
export async function openPostgresEngine(
  url: string,
  { limits = defaultLimits, mustExist = false }: PostgresEngineOptions = {},
): Promise<StoreEngine> {
  const location = parsePostgresUrl(url);
  const place = toPlace(location);
  const connections = createConnections(location, await loadTls(location), limits, prepareWriter);
  try {
    await repeatWhile(isRace, limits.patienceMs, () =>
      connections.use((client) => migrate(client, place, mustExist)),
    );
    return createPostgresEngine(connections, place, limits);
  } catch (error) {
    await connections.close();
    throw toStoreError(error, place);
  }
}

/**
 * An engine on connections, which it owns from then on.
 *
 * What fails in passing, a lost connection included, is repeated for a while: every call here may be. When a commit fails
 * in the end because its connection was lost in its last moment, it may have been stored all the same.
 *
 * @param place for messages
 */
export function createPostgresEngine(
  connections: Connections,
  place: string,
  { patienceMs }: Limits,
): StoreEngine {
  // Those who come after a call that waited in vain have waited behind it already.
  let isDown = false;

  async function attempt<T>(
    work: (client: ClientBase) => Promise<T>,
    forMs = patienceMs,
  ): Promise<T> {
    const boundMs = isDown ? Math.min(forMs, checkPatienceMs) : forMs;
    try {
      const result = await repeatWhile(isPassing, boundMs, () => connections.use(work));
      isDown = false;
      return result;
    } catch (error) {
      isDown = isPassing(error);
      throw toStoreError(error, place);
    }
  }

  return {
    async commit(requests) {
      const commit = createCommit(requests);
      return attempt((client) => commit.attempt(client));
    },
    get: (id) => attempt((client) => statements.findPlant(client, id)),
    list: (query) => attempt((client) => statements.listPlants(client, query)),
    checkWritable: () => attempt(statements.insertNothing, checkPatienceMs),
    addToken: (token) => attempt((client) => statements.insertToken(client, token)),
    listTokens: () => attempt(statements.findTokens),
    revokeToken: (digest, revokedAtMs) =>
      attempt((client) => statements.revokeToken(client, digest, revokedAtMs)),
    noteTokenUses: (digests, day) =>
      attempt((client) => statements.noteTokenUses(client, digests, day), checkPatienceMs),
    close: () => connections.close(),
  };
}
