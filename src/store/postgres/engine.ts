/** The engine on a PostgreSQL database: its calls with their retries. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type EngineOptions,
  type StoreEngine,
  StoreError,
  type StoreReader,
} from "../../core/store.ts";
import { toCode } from "../store-failure.ts";
import { createCommit } from "./commit.ts";
import {
  createDatabase,
  createError,
  type Database,
  defaultLimits,
  isTransient,
  type Limits,
  longLimits,
  toStoreError,
  type DatabaseWork,
} from "./database.ts";
import { parsePostgresUrl } from "./postgres-url.ts";
import * as statements from "./statements.ts";
import { assertCurrent, createTables, findSchema } from "./tables.ts";

/** Opens a database as a store, and creates its tables when they are missing. @throws StoreError */
export async function openPostgresEngine(
  url: string,
  {
    limits = defaultLimits,
    mustExist = false,
  }: EngineOptions & { readonly limits?: Limits | undefined } = {},
): Promise<StoreEngine> {
  return openWith(url, limits, true, async (database) => {
    const { shownUrl, read, write } = database;
    const { name, isStore } = await read((client) => findSchema(client, shownUrl, mustExist));
    database.useSchema(name);
    if (!isStore) await write(createTables);
    await read((client) => assertCurrent(client, shownUrl));
  });
}

/** Opens a store for reading, also on a standby server. Nothing is created or changed. @throws StoreError */
export async function openPostgresReader(
  url: string,
  { onWarning }: Pick<EngineOptions, "onWarning"> = {},
): Promise<StoreReader> {
  return openWith(url, longLimits, false, async (database) => {
    const { shownUrl, read } = database;
    const { name, isOnStandby } = await read((client) => findSchema(client, shownUrl, true));
    const warning = `the store ${shownUrl} is a standby, which may lack the newest plants`;
    if (isOnStandby) onWarning?.(warning);
    database.useSchema(name);
    await read((client) => assertCurrent(client, shownUrl));
  });
}

async function openWith(
  url: string,
  limits: Limits,
  isWriter: boolean,
  prepare: (database: Database) => Promise<void>,
): Promise<StoreEngine> {
  const database = createDatabase(parsePostgresUrl(url), limits, isWriter);
  try {
    await prepare(database);
    return createPostgresEngine(database, limits);
  } catch (error) {
    await database.close();
    throw toStoreError(error, database.shownUrl);
  }
}

/**
 * Creates an engine on a database, which it closes.
 *
 * A call retries transient failures, a lost connection included, until its time is over. A commit that fails because the
 * connection was lost in its last moment may have been stored.
 */
function createPostgresEngine(database: Database, limits: Limits): StoreEngine {
  const { shownUrl, read, write } = database;
  const callInOrder = createCaller(shownUrl, limits, true);
  const check = createCaller(shownUrl, { ...limits, callMs: limits.shortCallMs }, true);
  const call = createCaller(shownUrl, limits, false);
  const find = <T>(work: DatabaseWork<T>): Promise<T> => call(() => read(work));
  const writeInOrder = <T>(work: DatabaseWork<T>): Promise<T> => callInOrder(() => write(work));

  return {
    commit(entries) {
      const commitOnce = createCommit(entries);
      return callInOrder(() => commitOnce(write));
    },
    get: (id) => find((client) => statements.findPlant(client, id)),
    list: (query) => find((client) => statements.listPlants(client, query)),
    // A plant whose wait for the standby was cancelled is visible, and not yet confirmed.
    listDurable: (query) => call(() => write((client) => statements.listPlants(client, query))),
    count: (filter) => find((client) => statements.countPlants(client, filter)),
    // The statement of a create, which fails on a read-only server, without the privilege, or with other columns.
    checkWritable: () =>
      check(() => write(async (client) => void (await statements.insertPlants(client, [])))),
    addToken: (token) => writeInOrder((client) => statements.insertToken(client, token)),
    listTokens: () => find(statements.findTokens),
    readTokens: (knownVersion) => find((client) => statements.readTokenState(client, knownVersion)),
    endToken: (token) => writeInOrder((client) => statements.endToken(client, token)),
    recordTokenUse: (digests, day) =>
      call(() => write((client) => statements.recordTokenUse(client, digests, day))),
    close: () => database.close(),
  };
}

/**
 * Creates a function that retries work and rejects when the time for a call is over. An attempt that has not ended by
 * then continues without its caller.
 *
 * @param isInOrder whether a call starts only after every attempt of the previous call has ended
 */
export function createCaller(
  shownUrl: string,
  { callMs, shortCallMs }: Limits,
  isInOrder: boolean,
) {
  // Calls that are queued after a failing one have waited long enough.
  let isDown = false;
  let previous: Promise<unknown> = Promise.resolve();

  return async <T>(work: () => Promise<T>): Promise<T> => {
    const limitMs = isDown ? shortCallMs : callMs;
    const deadlineMs = performance.now() + limitMs;
    const attempts = (isInOrder ? previous : Promise.resolve()).then(() => retry(deadlineMs, work));
    previous = attempts.then(
      () => (isDown = false),
      (error: unknown) => (isDown = isTransient(error)),
    );
    try {
      return await within(limitMs, attempts);
    } catch (error) {
      if (toCode(error) === "TIMEOUT") isDown = true;
      throw toRetryableError(toStoreError(error, shownUrl));
    }
  };
}

/** A store that was opened may become usable again, for example after its password is corrected: clients retry `busy`. */
function toRetryableError(error: StoreError): StoreError {
  if (error.reason !== "unusable") return error;
  return new StoreError("busy", error.message, { cause: error.cause });
}

async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(createTimeoutError()), limitMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

const createTimeoutError = (): Error => createError("TIMEOUT", "timeout");

const firstPauseMs = 10;
const longestPauseMs = 500;

/**
 * Repeats `work` after transient failures with growing, random pauses, so that writers that conflicted do not meet again.
 *
 * @param deadlineMs of `performance.now()`; no attempt starts after it
 * @throws the last error of `work`
 */
async function retry<T>(deadlineMs: number, work: () => Promise<T>): Promise<T> {
  if (performance.now() > deadlineMs) throw createTimeoutError();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || performance.now() + pauseMs > deadlineMs) throw error;
      await sleep(pauseMs * (0.5 + 0.5 * Math.random()));
    }
  }
}
