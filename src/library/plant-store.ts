/** A plant store as a part of another program, such as a test. */
import { invalid } from "../core/messages.ts";
import { createReadStream, existsSync } from "node:fs";
// Not the global function, which tests may replace with a fake.
import { setImmediate as endOfTurn } from "node:timers/promises";
import { createAuthenticator, mintToken } from "../auth/authenticator.ts";
import { isLoopback } from "../core/base-url.ts";
import { RequestError } from "../core/errors.ts";
import { type NewPlant, type PlantInput, toNewPlantJson } from "../core/plant.ts";
import { readNewPlant } from "../core/read-plant.ts";
import type { PlantFilter, PlantQuery, PlantStore } from "../core/store.ts";
import { Faults } from "../server/faults.ts";
import { Journal, type JournalEntry } from "../server/journal.ts";
import { openPlantServer } from "../server/server.ts";
import { openStore } from "../store/open-store.ts";
import { readPlantPages } from "../store/pages.ts";
import { workerScript } from "../store/sqlite/worker-script.ts";
import { checkInteger, token as tokenType } from "./option-types.ts";
import {
  assertKnownOptions,
  attemptOptions,
  checkOption,
  checkOptions,
  type OptionValues,
  type SpecsOf,
} from "./client-options.ts";
import { checkPlantTypes, checkFunction, checkId, isIterable, listeningFetches } from "./checks.ts";
import { createListener, type PlantListener } from "./listener.ts";
import { readSeed, type SeedRecord, type SeedTally, storeSeed } from "./seed.ts";
import {
  checkFaults,
  type FaultOptions,
  limitOptions,
  type StoreOptions,
  storeOptions,
} from "./store-options.ts";

/** Plants to store, or the path of a file of plants: JSON in any layout, or a table if it ends in `.csv` or `.tsv`. */
export type PlantSeed = string | Iterable<PlantInput> | AsyncIterable<PlantInput>;

/** Options for {@link startPlantStore}. */
export interface PlantStoreOptions extends StoreOptions {
  /** `false` opens no port: requests come only through {@link RunningPlantStore.fetch} and {@link RunningPlantStore.listener}. */
  readonly listen?: boolean | undefined;
  /** Plants that are in the store before the first request. */
  readonly seed?: PlantSeed | undefined;
  /** Token to accept; by default a new one. It is not stored. Stored tokens are accepted too. */
  readonly token?: string | undefined;
  /** Faults of creates and deletes, for tests of clients; by default none. */
  readonly faults?: FaultOptions | undefined;
  /** Number of requests that {@link RunningPlantStore.requests} returns: 1 … 100000; by default none is kept. */
  readonly journal?: number | undefined;
  /** Receives the server's own failures, which clients see as 50000 and above. Must not throw. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Options for `list` of a running store. */
export interface ListOptions extends Omit<PlantFilter, "after"> {
  /** Selects only plants with a larger id: a bigint, or a safe integer. */
  readonly after?: bigint | number | undefined;
  /** Maximum number of plants, at least 1; by default 100. */
  readonly limit?: number | undefined;
}

/** Options for `nextRequest` of a running store. */
export interface NextRequestOptions {
  /** Time to wait for the request, in milliseconds: 1 … 86400000; by default 10000. */
  readonly timeoutMs?: number | undefined;
}

/** A plant store that runs in this process. Its methods reject with a `StoreError` if the store fails. */
export interface RunningPlantStore {
  /** URL above `/plants`: scheme, host, port and base path. With `listen: false`, only `fetch` and `listener` respond to it. */
  readonly url: string;
  /** A token that it accepts. */
  readonly token: string;
  /**
   * Responds to a request like the server, without a socket. Takes the arguments of the global `fetch`, so a URL is absolute,
   * such as `${store.url}/plants`; its host does not matter.
   *
   * @throws TypeError if the body was read before, or if its stream fails
   * @throws the reason of the request's signal once that is aborted; the plant may or may not exist
   */
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
  /** Responds to a request of a server of node:http, as in `createServer(store.listener)`, and of frameworks on top of it. */
  readonly listener: PlantListener;
  /** Resolves with the plant of an id, or undefined. @throws TypeError if the id is neither a bigint nor a safe integer */
  get(id: bigint | number): Promise<NewPlant | undefined>;
  /** Resolves with some plants, in the order of their ids. @throws TypeError, RangeError for an invalid option */
  list(options?: ListOptions): Promise<readonly NewPlant[]>;
  /** Resolves with all plants in the order of their ids. */
  all(): Promise<NewPlant[]>;
  /** Resolves with the number of plants. */
  count(): Promise<number>;
  /**
   * Stores plants without a request. They follow the rules of a create, `onConflict` included.
   *
   * @returns how many plants were created, unchanged and replaced
   * @throws TypeError for a plant with an invalid type; Error for one that the store rejects. The message names the
   *   record, and the number of the Error is `cause.error`. The plants before it are stored, and plants after it may be stored
   * @throws Error for a file that does not exist; the error of node:fs for one that cannot be read
   */
  seed(plants: PlantSeed): Promise<SeedTally>;
  /**
   * Returns the newest requests in the order of their responses, oldest first.
   *
   * @throws Error unless the store was started with `journal`
   */
  requests(): readonly JournalEntry[];
  /**
   * Waits for a request that is not in {@link RunningPlantStore.requests} yet, and resolves with it when its response is
   * sent. Calls that wait at the same time get one request each.
   *
   * @throws Error unless the store was started with `journal`; if no request comes in time, or the store is closed
   * @throws TypeError or RangeError for an invalid option
   */
  nextRequest(options?: NextRequestOptions): Promise<JournalEntry>;
  /**
   * Removes all plants, those of the seed too, empties the journal of requests, and begins the sequence of faults
   * again; tokens stay. Requests in flight do not get into the empty journal.
   *
   * @throws Error unless the store is `memory:`
   */
  reset(): Promise<void>;
  /** Ends all delays of faults, waits up to ten seconds for requests in flight, and closes the store. May be called twice. */
  close(): Promise<void>;
  /** The same as {@link RunningPlantStore.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options that are not in the table, because the command line has none of them or another form. */
const otherOptions = ["listen", "seed", "token", "faults", "journal", "onError"];

/**
 * Starts a plant store. It never installs signal handlers, exits the process or writes to the console.
 *
 * @throws Error under Bun unless `listen` is false, if a bundler has moved this code away from the files of the package, or for an invalid seed
 * @throws TypeError for an unknown or invalid option; RangeError for a number that is too small, too large or not whole
 * @throws StoreError if the store cannot be opened
 * @throws the error of node:net if the server cannot listen, and of node:fs if the file of the seed exists but cannot be read
 */
export async function startPlantStore(options: PlantStoreOptions = {}): Promise<RunningPlantStore> {
  assertUnbundled();
  assertKnownOptions(options, [...Object.keys(storeOptions), ...otherOptions]);
  const { store: storeUrl, ...serverOptions } = checkOptions(storeOptions, options);
  const { listen = true, token = mintToken(), onError = () => undefined } = options;
  checkOption("listen", checkBoolean, listen);
  checkOption("token", (value) => tokenType.check(value), token);
  checkOption("onError", checkFunction, onError);
  assertCanListen(listen, options);
  if (options.seed !== undefined) checkOption("seed", checkSeedType, options.seed);
  const faults = options.faults === undefined ? undefined : new Faults(checkFaults(options.faults));
  const checkSize = (value: unknown): number => checkInteger(value, { min: 1, max: 100_000 });
  const journal =
    options.journal === undefined
      ? undefined
      : new Journal(checkOption("journal", checkSize, options.journal));
  const { shutdownTimeoutMs, ...limits } = checkOptions(limitOptions, {});
  // First, so that no store is created if the port is in use.
  const server = await openPlantServer({
    ...limits,
    ...serverOptions,
    listen,
    faults,
    journal,
    onError,
  });
  let store: PlantStore | undefined;
  try {
    const opened = await openStore(storeUrl);
    store = opened;
    const methods = createStoreMethods(store, journal, faults, serverOptions);
    if (options.seed !== undefined) await methods.seed(options.seed);
    const authenticator = createAuthenticator(opened, { ownToken: token });
    server.start({ store, authenticator });
    const close = async (): Promise<void> => {
      faults?.stop();
      await server.close(shutdownTimeoutMs, isLoopback(serverOptions.host));
      await authenticator.flushUses();
      await opened.close();
      journal?.close();
      // A client in this process reads the end of its connections now. On Node 20, its next request would use one of them.
      for (let turn = 0; turn < 2; turn++) await endOfTurn();
    };
    const { url, fetch } = server;
    const listener = createListener(fetch, serverOptions.statusMode, onError);
    if (listen) listeningFetches.add(fetch);
    return { url, token, fetch, listener, ...methods, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await server.close(0);
    await store?.close();
    throw error;
  }
}

type StoreMethods = Pick<
  RunningPlantStore,
  "get" | "list" | "all" | "count" | "seed" | "requests" | "nextRequest" | "reset"
>;

function createStoreMethods(
  store: PlantStore,
  journal: Journal | undefined,
  faults: Faults | undefined,
  {
    onConflict,
    maxBodyBytes,
  }: OptionValues<Pick<typeof storeOptions, "onConflict" | "maxBodyBytes">>,
): StoreMethods {
  async function list(query: PlantQuery): Promise<NewPlant[]> {
    const pages: (readonly NewPlant[])[] = [];
    for await (const page of readPlantPages(store, query)) pages.push(page);
    return pages.flat();
  }

  return {
    async get(id) {
      return store.get(checkOption("id", checkId, id));
    },
    async list(options = {}) {
      assertKnownOptions(options, ["after", "tag", "limit"]);
      const {
        after,
        tag,
        limit = 100,
      } = options as { readonly [Key in keyof ListOptions]: unknown };
      if (tag !== undefined && typeof tag !== "string") {
        throw new TypeError("tag must be a string, or be left out");
      }
      return list({
        after: after === undefined ? undefined : checkOption("after", checkId, after),
        tag,
        limit: checkOption("limit", checkLimit, limit),
      });
    },
    all: () => list({ limit: Infinity }),
    count: () => store.count({}),
    async seed(plants) {
      checkOption("seed", checkSeedType, plants);
      const records =
        typeof plants === "string" ? readSeedFile(plants, maxBodyBytes) : readSeedPlants(plants);
      const result = await storeSeed(store, records, onConflict);
      if (!(result instanceof RequestError)) return result;
      const { error, message } = result;
      throw new Error(message, { cause: { error, message } });
    },
    requests: () => assertJournal(journal, "requests").entries,
    async nextRequest(options = {}) {
      assertKnownOptions(options, Object.keys(nextRequestOptions));
      const { timeoutMs } = checkOptions(nextRequestOptions, options);
      return assertJournal(journal, "nextRequest").next(timeoutMs);
    },
    async reset() {
      if (store.clear === undefined) {
        throw new Error("reset() removes plants only from a memory: store; this one is durable");
      }
      await store.clear();
      journal?.clear();
      faults?.restart();
    },
  };
}

function readSeedFile(path: string, maxRecordBytes: number): AsyncIterable<SeedRecord> {
  if (!existsSync(path)) throw new Error(`seed: ${path} does not exist`);
  return readSeed(path, createReadStream(path), maxRecordBytes);
}

async function* readSeedPlants(
  plants: Iterable<PlantInput> | AsyncIterable<PlantInput>,
): AsyncGenerator<SeedRecord, void, undefined> {
  let count = 0;
  for await (const plant of plants) {
    const name = `seed: record ${++count}`;
    const exact = checkPlantTypes(plant, `${name}: `);
    // Checks the rules that types cannot express, such as the range of an id.
    yield { plant: readNewPlant(Buffer.from(toNewPlantJson(exact))), name };
  }
}

const checkLimit = (value: unknown): number =>
  checkInteger(value, { min: 1, max: Number.MAX_SAFE_INTEGER });
const nextRequestOptions = {
  timeoutMs: attemptOptions.timeoutMs,
} satisfies SpecsOf<NextRequestOptions>;

function assertJournal(journal: Journal | undefined, method: string): Journal {
  if (journal !== undefined) return journal;
  throw new Error(
    `${method}() needs a journal: start the store with an option such as journal: 1000`,
  );
}

function checkBoolean(value: unknown): void {
  if (typeof value !== "boolean") throw invalid(value, "true or false");
}

function checkSeedType(value: unknown): void {
  if (typeof value !== "string" && !isIterable(value)) {
    throw invalid(value, "an iterable of plants, or the path of a file");
  }
}

function assertCanListen(listen: boolean, options: PlantStoreOptions): void {
  const address = (["host", "port"] as const).find((each) => options[each] !== undefined);
  if (!listen && address !== undefined) {
    throw new TypeError(`${address} has no effect with listen: false: leave one of them out`);
  }
  // Bun's node:http does not accept the connections that this server passes to it.
  if (!listen || !("Bun" in globalThis)) return;
  throw new Error(
    "plantstore cannot listen under Bun: run it with Node.js, or pass listen: false and serve it with Bun.serve({ fetch: (request) => plants.fetch(request) })",
  );
}

function assertUnbundled(): void {
  if (existsSync(workerScript)) return;
  throw new Error(
    'plantstore cannot run from inside a bundle, because it needs files of its package. Keep it external, for example with "esbuild --external:plantstore", "ssr.external" of Vite, serverExternalPackages: ["plantstore"] of Next.js, or externals: { plantstore: "module plantstore" } of webpack',
  );
}
