/** The engine and the reader on a PostgreSQL database, which any number of servers may share. */
import { type StoreEngine, StoreError, type StoreReader } from "../../core/store.ts";
import type { Schema } from "../schema.ts";
import type { EngineOptions, ReaderOptions } from "../store-location.ts";
import { createCaller, retryWhile } from "./calls.ts";
import { createCommit } from "./commit.ts";
import { createDatabase, type Database, type Work } from "./database.ts";
import { isTransient, toStoreError } from "./postgres-error.ts";
import { readFeed } from "./feed.ts";
import {
  assertCurrent,
  findSchema,
  isCurrent,
  isRace,
  migrate,
  postgresSchema,
} from "./migrations.ts";
import { parsePostgresUrl } from "./postgres-url.ts";
import { assertFlushing, defaultLimits, feedCallMs, type Limits, longLimits } from "./settings.ts";
import * as plants from "./statements.ts";
import { loadTls } from "./tls.ts";
import * as tokens from "./token-statements.ts";

/** Options of {@link openPostgresEngine}. */
interface PostgresEngineOptions extends Pick<EngineOptions, "mustExist"> {
  readonly limits?: Limits | undefined;
  readonly schema?: Schema;
}

/**
 * Opens a database as a store, and creates its tables when they are missing.
 *
 * @param url as {@link parsePostgresUrl} describes it
 * @throws StoreError
 */
export async function openPostgresEngine(
  url: string,
  {
    limits = defaultLimits,
    mustExist = false,
    schema = postgresSchema,
  }: PostgresEngineOptions = {},
): Promise<StoreEngine> {
  const location = parsePostgresUrl(url);
  const tls = await loadTls(location);
  const database = createDatabase(location, tls, limits, true);
  const { place } = database;
  try {
    const name = await database.read((client) => findSchema(client, place));
    database.useSchema(name);
    if (!(await database.read((client) => isCurrent(client, place, mustExist, schema)))) {
      const slow = createDatabase(location, tls, longLimits, true);
      slow.useSchema(name);
      await upgrade(slow, limits.statementMs, schema);
    }
    return createPostgresEngine(database, limits);
  } catch (error) {
    await database.close();
    throw toStoreError(error, place);
  }
}

/**
 * Opens a store for reading; a standby server is sufficient. Nothing is created or changed.
 *
 * @param url as {@link parsePostgresUrl} describes it
 * @throws StoreError
 */
export async function openPostgresReader(
  url: string,
  { isFollower = false }: ReaderOptions = {},
  schema = postgresSchema,
): Promise<StoreReader> {
  const location = parsePostgresUrl(url);
  const database = createDatabase(location, await loadTls(location), longLimits, false);
  const { place } = database;
  try {
    const deadlineMs = performance.now() + feedCallMs;
    await retryWhile(
      (error) => isFollower && isTransient(error),
      deadlineMs,
      async () => {
        database.useSchema(await database.read((client) => findSchema(client, place)));
        await database.read((client) => assertCurrent(client, place, schema));
      },
    );
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

async function upgrade(
  { place, write, close }: Database,
  lockMs: number,
  schema: Schema,
): Promise<void> {
  const deadlineMs = performance.now() + longLimits.callMs;
  const attempt = () => write((client) => migrate(client, place, lockMs, schema));
  try {
    await retryWhile(isRace, deadlineMs, attempt);
  } finally {
    await close();
  }
}

/**
 * Creates an engine on a database, which it closes.
 *
 * A call retries transient failures, a lost connection included, until its time is over. A commit that fails because the
 * connection was lost in its last moment may have been stored.
 */
function createPostgresEngine(
  database: Database,
  limits: Limits,
): StoreEngine & Pick<StoreReader, "readFeed"> {
  const { place, read, write } = database;
  const callInOrder = createCaller(place, limits, true);
  const check = createCaller(place, { ...limits, callMs: limits.shortCallMs }, true);
  const call = createCaller(place, limits, false);
  const callFeed = createCaller(place, { ...limits, callMs: feedCallMs }, false);
  const find = <T>(work: Work<T>): Promise<T> => call(() => read(work));
  const change = <T>(work: Work<T>): Promise<T> => callInOrder(() => write(work));

  return {
    commit(requests) {
      const attempt = createCommit(requests);
      return callInOrder(() => attempt(write));
    },
    get: (id) => find((client) => plants.findPlant(client, id)),
    list: (query) => find((client) => plants.listPlants(client, query)),
    count: (filter) => find((client) => plants.countPlants(client, filter)),
    async delete(ids) {
      // An attempt whose connection was lost during COMMIT may have deleted them.
      const deleted = new Set<bigint>();
      await change(async (client) => {
        for (const id of await plants.deletePlants(client, ids)) deleted.add(id);
      });
      return [...new Set(ids)].filter((id) => deleted.has(id));
    },
    async readFeed(query) {
      const entries = await callFeed(() => read((client) => readFeed(client, query, place)));
      if (entries instanceof StoreError) throw entries;
      return entries;
    },
    checkWritable: () => check(() => write(plants.insertNothing)),
    addToken: (token) => change((client) => tokens.insertToken(client, token)),
    listTokens: () => find(tokens.findTokens),
    readTokens: (knownVersion) => find((client) => tokens.readTokens(client, knownVersion)),
    endToken: (token) => change((client) => tokens.endToken(client, token)),
    removeTokens: (digests) => change((client) => tokens.removeTokens(client, digests)),
    noteTokenUses: (digests, day) =>
      call(() => write((client) => tokens.noteTokenUses(client, digests, day))),
    close: () => database.close(),
  };
}
