/** A client of a plant store for programs. */
import type { Fetch } from "../client/fetch-post.ts";
import type { SendPlantOptions } from "../client/create-plant.ts";
import {
  type CreateResponse,
  type DeleteResponse,
  type ErrorResponse,
  type ItemResult,
  type PlantItem,
  type Rejection,
  type StopCause,
  UnavailableError,
} from "../client/results.ts";
import { onAbort } from "../core/attempt.ts";
import { invalid, InvalidValue, isBuiltIn } from "../core/messages.ts";
import { type NewPlant, type Plant, type PlantInput, toNewPlantJson } from "../core/plant.ts";
import type { SuccessfulResult } from "../core/store.ts";
import { checkFunction, checkId, checkPlantTypes, isIterable, listeningFetches } from "./checks.ts";
import {
  assertKnownOptions,
  checkOption,
  checkOptions,
  type CreateManyOptions,
  createManyOptions,
} from "./client-options.ts";
import { baseUrl, checkInteger, httpUrl, token } from "./option-types.ts";
import type { RunningPlantStore } from "./plant-store.ts";
import {
  type ClientOptions,
  clientOptions,
  getDefaultFetch,
  loadPost,
  openTransport,
} from "./transport.ts";

/** Options for {@link createClient}. */
export interface PlantClientOptions extends ClientOptions {
  /**
   * URL of the plant store, with its base path if it has one. `http:` or `https:`, without a user, a query or a fragment.
   * For a Unix socket `unix:/path/of.sock`, and `unix:/path/of.sock:/v1` with a base path.
   */
  readonly url: string | URL;
  /** Token to send, without the scheme `Bearer`. */
  readonly token: string;
  /**
   * Sends each request: the global `fetch`, or a function like it. By default, Node uses sockets, and a browser the
   * global `fetch`. The `fetch` of a running store is used only if the store does not listen. Without `ca` and `unix:`.
   */
  readonly fetch?: Fetch | undefined;
}

/** Options for `create` of a client. */
export interface CreateOptions {
  /** Once aborted, the create rejects. */
  readonly signal?: AbortSignal | undefined;
}

export interface PlantClient {
  /**
   * Creates one plant.
   *
   * @param options `signal` stops it early; it then rejects with the signal's reason, and the plant may or may not exist
   * @returns the Plant and the result, or the Error that the store sent
   * @throws TypeError if a member of the plant has an invalid type, or a browser has no global `fetch`
   * @throws UnavailableError if the last attempt got no response
   * @throws NotAPlantStoreError if the response is not that of a plant store
   */
  create(plant: PlantInput, options?: CreateOptions): Promise<CreateResponse>;
  /**
   * Creates any number of plants, several at once. It reads plants only as fast as they are created and their results are
   * taken. Plants with the same id are sent one after the other. Nothing is checked or sent before the loop begins.
   *
   * @returns one result for each plant, in the order of the plants. When the loop ends early, no further plant is sent
   * @throws TypeError for an option or a plant with an invalid type, after the results of the plants before it; if a browser has
   *   no global `fetch`
   * @throws UnavailableError if the store stays unavailable; plants without a result may or may not exist
   * @throws NotAPlantStoreError if a response is not that of a plant store
   * @throws StoppedError if every other create would get the same Error, for example because the token is rejected
   * @throws the reason of the signal, after the results of plants in flight: an abort stops no request
   */
  createMany(
    plants: Iterable<PlantInput> | AsyncIterable<PlantInput>,
    options?: CreateManyOptions,
  ): AsyncGenerator<CreateManyResult, void, undefined>;
  /**
   * Lists the plants in the order of their ids, page by page, with exact ids. A page is requested when the loop asks for it.
   * One page is one snapshot, several are not. Only a server with all operations lists plants.
   *
   * @returns pages; none is empty
   * @throws TypeError for an option with an invalid type, RangeError for a limit outside 1 … 1000
   * @throws UnavailableError if the last attempt got no response
   * @throws NotAPlantStoreError if a response is not that of a plant store
   * @throws StoppedError if the store responds with an Error, for example because the token is rejected
   * @throws PageTooLargeError for a plant that is too large for a response; its `after` says where to continue
   * @throws the signal's reason
   */
  list(options?: ListPagesOptions): AsyncGenerator<readonly NewPlant[], void, undefined>;
  /**
   * Deletes the plant of an id. If a response was lost, a later Error that no plant has the id counts as a deletion. Only a
   * server with all operations deletes plants.
   *
   * @returns the Error that the store sent, if it did not delete the plant
   * @throws TypeError if the id is neither a bigint nor a safe integer
   * @throws UnavailableError if the last attempt got no response; the plant may have been deleted
   * @throws NotAPlantStoreError if the response is not that of a plant store
   * @throws the signal's reason; the plant may have been deleted
   */
  delete(id: bigint | number, options?: DeleteOptions): Promise<DeleteResponse>;
}

/** Options for `list` of a client. */
export interface ListPagesOptions {
  /** Only plants with a larger id: a bigint, or a safe integer. */
  readonly after?: bigint | number | undefined;
  /** Maximum number of plants in each page: 1 … 1000; by default 100. */
  readonly limit?: number | undefined;
  /** Once aborted, the loop throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for `delete` of a client. */
export interface DeleteOptions {
  /** Once aborted, the deletion rejects. */
  readonly signal?: AbortSignal | undefined;
}

/** Members of a running store that are not options, so that a program can write `{ ...store, retries: 0 }`. */
const storeMembers: Record<Exclude<keyof RunningPlantStore, keyof PlantClientOptions>, true> = {
  listener: true,
  get: true,
  list: true,
  all: true,
  count: true,
  seed: true,
  requests: true,
  nextRequest: true,
  reset: true,
  close: true,
  [Symbol.asyncDispose]: true,
};

/**
 * Creates a client of one plant store. It keeps no connection open between two calls, so that it needs no `close()`.
 *
 * @throws TypeError for an unknown or invalid option; RangeError for a number that is too small, too large or not whole
 */
export function createClient(options: PlantClientOptions): PlantClient {
  const names = ["url", "token", "fetch", ...Object.keys(clientOptions)];
  assertKnownOptions(options, names, Object.keys(storeMembers));
  const fetch = checkFetch(options);
  const url = checkOption("url", (value) => checkUrl(value, fetch), options.url);
  const bearer = checkOption("token", (value) => token.check(value), options.token);
  const { timeoutMs, retries, ca } = checkOptions(clientOptions, options);

  /** Checks the options of a call, too. */
  async function loadSendOptions(
    own: CreateOptions,
    known = ["signal"],
  ): Promise<SendPlantOptions> {
    assertKnownOptions(own, known);
    const signal = checkOption("signal", checkSignal, own.signal);
    const { toCreateRequest } = await import("../client/create-plant.ts");
    const request = toCreateRequest(url, bearer, ca);
    return { request, timeoutMs, retries, post: await loadPost(fetch), signal };
  }

  return {
    async create(plant, own = {}) {
      const exact = checkPlantTypes(plant);
      const sendOptions = await loadSendOptions(own);
      const { sendPlant } = await import("../client/create-plant.ts");
      return omitAttempts(await sendPlant(toNewPlantJson(exact), sendOptions));
    },
    async *list(own = {}) {
      const sendOptions = await loadSendOptions(own, ["after", "limit", "signal"]);
      const { limit = 100 } = own;
      const after = own.after === undefined ? undefined : checkOption("after", checkId, own.after);
      const { listPages, maxPagePlants } = await import("../client/list-plants.ts");
      const range = { min: 1, max: maxPagePlants };
      checkOption("limit", (value) => checkInteger(value, range), limit);
      const single = { concurrency: 1, timeoutMs };
      const connections = await openTransport(fetch, sendOptions.request, single);
      try {
        yield* listPages({ after, limit }, { ...sendOptions, post: connections.post });
      } finally {
        await connections.close();
      }
    },
    async delete(id, own = {}) {
      const exact = checkOption("id", checkId, id);
      const sendOptions = await loadSendOptions(own);
      const { sendDeletion } = await import("../client/delete-plants.ts");
      return omitAttempts(await sendDeletion(exact, sendOptions));
    },
    async *createMany(plants, own = {}) {
      const known = [...Object.keys(createManyOptions), "signal"];
      const sendOptions = await loadSendOptions(own, known);
      const { concurrency } = checkOptions(createManyOptions, own);
      checkOption("plants", checkIterable, plants);
      const { sendPlants } = await import("../client/create-plants.ts");
      const { request, signal = new AbortController().signal } = sendOptions;
      const reading = new AbortController();
      const stopReading = (): void => reading.abort();
      const release = onAbort(signal, stopReading);
      if (signal.aborted) stopReading();
      try {
        const outcomes = sendPlants(readInputPlants(plants, reading.signal), {
          ...sendOptions,
          concurrency,
          pool: await openTransport(fetch, request, { concurrency, timeoutMs }),
          stopSending: signal,
          stopReading,
        });
        for await (const batch of outcomes) {
          for (const [{ identity }, result] of batch) {
            if (result !== undefined) yield toCreateManyResult(identity, result);
          }
        }
        signal.throwIfAborted();
      } finally {
        release();
      }
    },
  };
}

function omitAttempts<T extends { readonly ok: true }>(response: T | StopCause): T | ErrorResponse {
  if (response.ok) return response;
  const { attempts: _, ...error } = response;
  return error;
}

/** @returns undefined to use sockets */
function checkFetch({ fetch: own, ca }: PlantClientOptions): Fetch | undefined {
  checkOption("fetch", checkFunction, own);
  const fetch = own === undefined || listeningFetches.has(own) ? getDefaultFetch() : own;
  if (fetch === undefined || ca === undefined) return fetch;
  throw new TypeError("ca does not concern fetch: leave it out, and let fetch trust the authority");
}

function checkUrl(value: unknown, fetch: Fetch | undefined): string {
  const text = isBuiltIn(value, "URL") ? value.href : value;
  if (typeof text !== "string") throw invalid(value, "a string or a URL");
  if (fetch === undefined) return baseUrl.check(text);
  if (!text.startsWith("unix:")) return httpUrl.check(text);
  throw new InvalidValue("must begin with http: or https:, because fetch cannot use unix:");
}

function checkSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined || isBuiltIn(value, "AbortSignal")) return value;
  throw invalid(value, "an AbortSignal");
}

function checkIterable(value: unknown): void {
  if (!isIterable(value)) throw invalid(value, "an iterable of plants");
}

/**
 * Result for one plant:
 * - `created`, `unchanged`, `replaced`: the plant is in the store
 * - `rejected`: the same request would fail again
 * - `failed`: a retry may succeed; the error has no number if the store sent no response
 *
 * It has one member for each status, so that each check of `ok`, `status`, `plant` or `error` narrows it.
 */
export type CreateManyResult = {
  /** Counts the plants, from 1. */
  readonly record: number;
  /** Id of the plant. */
  readonly id: bigint;
} & (
  | {
      [Status in SuccessfulResult]: {
        readonly ok: true;
        readonly status: Status;
        readonly plant: Plant;
        readonly error?: undefined;
        readonly requestId?: undefined;
      };
    }[SuccessfulResult]
  | {
      [Status in "rejected" | "failed"]: {
        readonly ok: false;
        readonly status: Status;
        readonly plant?: undefined;
        readonly error: Rejection;
        /** Id of the request in the server's log. */
        readonly requestId?: string | undefined;
      };
    }["rejected" | "failed"]
);

type Identity = Pick<CreateManyResult, "record" | "id">;

function toCreateManyResult(identity: Identity, result: ItemResult): CreateManyResult {
  // Nothing is `valid`, because everything is sent.
  if (result.ok) return { ...identity, ...result, status: result.status as SuccessfulResult };
  // The error without a response is an object with a message, as all others.
  const { message } = result.error;
  const error = result.error instanceof UnavailableError ? { message } : result.error;
  return { ...identity, ...result, error };
}

/** Reads the plants of a program until it is stopped, also while it waits for the next plant. */
async function* readInputPlants(
  plants: Iterable<PlantInput> | AsyncIterable<PlantInput>,
  stop: AbortSignal,
): AsyncGenerator<PlantItem & { readonly identity: Identity }, void, undefined> {
  const iterator =
    Symbol.asyncIterator in plants ? plants[Symbol.asyncIterator]() : plants[Symbol.iterator]();
  const bytes = new Uint8Array();
  try {
    for (let record = 1; ; record++) {
      const next = await untilAborted(iterator.next(), stop);
      if (next === undefined || next.done === true) return;
      const plant = checkPlantTypes(next.value, `record ${record}: `);
      yield { plant, bytes, identity: { record, id: plant.id } };
    }
  } finally {
    // Not awaited: a generator that waits for its next plant ends only after it.
    Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

/** Resolves with undefined once the signal is aborted. */
function untilAborted<T>(result: T | Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signal, () => resolve(undefined));
    if (signal.aborted) resolve(undefined);
    Promise.resolve(result).finally(release).then(resolve, reject);
  });
}
