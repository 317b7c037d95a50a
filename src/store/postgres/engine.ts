/** The engine on a PostgreSQL database, which any number of servers may share. */
import { setTimeout as sleep } from "node:timers/promises";
import { type StoreEngine, StoreError, type StoreReader } from "../../core/store.ts";
import { createCommit } from "./commit.ts";
import { createDatabase, type Database, type Work } from "./database.ts";
import { createError, isTransient, toCode, toStoreError } from "./failure.ts";
import { readFeed } from "./feed.ts";
import { isCurrent, isRace, migrate } from "./migrations.ts";
import { parsePostgresUrl } from "./postgres-url.ts";
import { defaultLimits, feedCallMs, type Limits, longLimits } from "./settings.ts";
import * as plants from "./statements.ts";
import { loadTls } from "./tls.ts";
import * as tokens from "./token-statements.ts";

/** Options of {@link openPostgresEngine}. */
interface PostgresEngineOptions {
  readonly limits?: Limits | undefined;
  /** True to reject a database without the tables instead of creating them. */
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
  const tls = await loadTls(location);
  const database = createDatabase(location, tls, limits, true);
  const { place } = database;
  try {
    if (!(await database.read((client) => isCurrent(client, place, mustExist)))) {
      await upgrade(createDatabase(location, tls, longLimits, true), limits.statementMs);
    }
    return createPostgresEngine(database, limits);
  } catch (error) {
    await database.close();
    throw toStoreError(error, place);
  }
}

async function upgrade({ place, write, close }: Database, lockMs: number): Promise<void> {
  const deadlineMs = performance.now() + longLimits.callMs;
  try {
    await retryWhile(isRace, deadlineMs, () => write((client) => migrate(client, place, lockMs)));
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
export function createPostgresEngine(
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
    addSuccessor: (token, known) =>
      change((client) => tokens.insertSuccessor(client, token, known)),
    listTokens: () => find(tokens.findTokens),
    revokeToken: (digest, revokedAtMs) =>
      change((client) => tokens.revokeToken(client, digest, revokedAtMs)),
    expireToken: (digest, expiresAtMs) =>
      change((client) => tokens.expireToken(client, digest, expiresAtMs)),
    removeTokens: (digests) => change((client) => tokens.removeTokens(client, digests)),
    noteTokenUses: (digests, day) =>
      call(() => write((client) => tokens.noteTokenUses(client, digests, day))),
    close: () => database.close(),
  };
}

type Call = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Creates a function that retries work and rejects when the time for a call is over. An attempt that has not ended by
 * then continues without its caller.
 *
 * @param isInOrder whether a call starts only after every attempt of the previous call has ended
 */
function createCaller(place: string, { callMs, shortCallMs }: Limits, isInOrder: boolean): Call {
  // Calls that are queued after a failing one have waited long enough.
  let isDown = false;
  let previous: Promise<unknown> = Promise.resolve();

  return async (work) => {
    const limitMs = isDown ? shortCallMs : callMs;
    const deadlineMs = performance.now() + limitMs;
    const attempts = (isInOrder ? previous : Promise.resolve()).then(() =>
      retryWhile(isTransient, deadlineMs, work),
    );
    previous = attempts.then(
      () => (isDown = false),
      (error: unknown) => (isDown = isTransient(error)),
    );
    try {
      return await within(limitMs, attempts);
    } catch (error) {
      if (toCode(error) === "TIMEOUT") isDown = true;
      throw toRetryableError(toStoreError(error, place));
    }
  };
}

/** A store that was opened may become usable again, for example after its password is corrected: clients retry `busy`. */
function toRetryableError(error: StoreError): StoreError {
  if (error.reason !== "unusable") return error;
  return new StoreError("busy", error.message, { cause: error.cause });
}

/** Rejects when the promise does not settle in time. */
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

function createTimeoutError(): Error {
  return createError("TIMEOUT", "timeout");
}

const firstPauseMs = 10;
const longestPauseMs = 500;

/**
 * Repeats `work` with growing, random pauses, so that writers that conflicted do not meet again.
 *
 * @param deadlineMs of `performance.now()`; no attempt starts after it
 * @throws the last error of `work`
 */
async function retryWhile<T>(
  isRetryable: (error: unknown) => boolean,
  deadlineMs: number,
  work: () => Promise<T>,
): Promise<T> {
  if (performance.now() > deadlineMs) throw createTimeoutError();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || performance.now() + pauseMs > deadlineMs) throw error;
      await sleep(pauseMs * (0.5 + 0.5 * Math.random()));
    }
  }
}
