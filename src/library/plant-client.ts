/** A client of plant stores for programs. */
import type { CreateResponse } from "../client/create-messages.ts";
import { type NewPlant, toNewPlantJson } from "../core/plant.ts";
import { clientOptions } from "./client-options.ts";
import type { CreateManyOptions, CreateManyResult } from "./create-many.ts";
import { baseUrl, invalid, token } from "./option-types.ts";
import {
  assertKnownOptions,
  checkOption,
  checkOptions,
  createManyOptions,
  type PartialValues,
} from "./options.ts";
import type { RunningPlantStore } from "./plant-store.ts";
import { assertPlantTypes, isIterable } from "./plant-types.ts";

/** Options for {@link createClient}. */
export interface PlantClientOptions extends PartialValues<typeof clientOptions> {
  /**
   * URL of the plant store, with its base path if it has one. `http:` or `https:`, without a user, a query or a fragment.
   * For a Unix socket `unix:/path/of.sock`, and `unix:/path/of.sock:/v1` with a base path.
   */
  readonly url: string;
  /** Token to send, without the scheme `Bearer`. */
  readonly token: string;
}

/** Options for `create` of a client. */
export interface CreateOptions {
  /** Once aborted, the create rejects. */
  readonly signal?: AbortSignal | undefined;
}

/** A client of one plant store. */
export interface PlantClient {
  /**
   * Creates one plant.
   *
   * @param options `signal` stops it early; it then rejects with the signal's reason, and the plant may or may not exist
   * @returns the Plant and the result, or the Error that the store sent
   * @throws TypeError if a member of the plant has an invalid type
   * @throws UnavailableError if the last attempt got no response
   * @throws NotAPlantStoreError if the response is not that of a plant store
   */
  create(plant: NewPlant, options?: CreateOptions): Promise<CreateResponse>;
  /**
   * Creates any number of plants, several at once. It reads plants only as fast as they are created and their results are
   * taken. Plants with the same id are sent one after the other.
   *
   * @returns one result for each plant, in the order of the plants. When the loop ends early, no further plant is sent
   * @throws TypeError for an option or a plant with an invalid type, after the results of the plants before it
   * @throws UnavailableError if the store stays unavailable; plants without a result may or may not exist
   * @throws NotAPlantStoreError if a response is not that of a plant store
   * @throws StoppedError if every other create would get the same Error, for example because the token is rejected
   * @throws the reason of the signal, after the results of plants in flight
   */
  createMany(
    plants: Iterable<NewPlant> | AsyncIterable<NewPlant>,
    options?: CreateManyOptions,
  ): AsyncGenerator<CreateManyResult, void, undefined>;
}

/** Members of a running store that are not options, so that a program can write `{ ...store, retries: 0 }`. */
const storeMembers: Record<Exclude<keyof RunningPlantStore, keyof PlantClientOptions>, true> = {
  fetch: true,
  get: true,
  list: true,
  all: true,
  count: true,
  seed: true,
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
  const names = ["url", "token", ...Object.keys(clientOptions)];
  assertKnownOptions(options, names, Object.keys(storeMembers));
  const url = checkOption("url", (value) => baseUrl.check(value), options.url);
  const bearer = checkOption("token", (value) => token.check(value), options.token);
  const checked = checkOptions(clientOptions, options);
  const { timeoutMs, retries, ca } = checked;
  return {
    async create(plant, createOptions = {}) {
      assertPlantTypes(plant);
      assertKnownOptions(createOptions, ["signal"]);
      const signal = checkOption("signal", checkSignal, createOptions.signal);
      // A program that only starts a server needs no HTTP client.
      const { sendPlant } = await import("../client/send-plant.ts");
      const { toCreateRequest } = await import("../client/create-messages.ts");
      const { post } = await import("../client/http/post.ts");
      const { attempts: _, ...response } = await sendPlant(toNewPlantJson(plant), {
        request: toCreateRequest(url, bearer, { ca }),
        timeoutMs,
        retries,
        post,
        ...(signal && { signal }),
      });
      return response;
    },
    async *createMany(plants, many = {}) {
      assertKnownOptions(many, [...Object.keys(createManyOptions), "signal"]);
      const { concurrency } = checkOptions(createManyOptions, many);
      const signal = checkOption("signal", checkSignal, many.signal);
      checkOption("plants", checkPlants, plants);
      const { createMany } = await import("./create-many.ts");
      yield* createMany(plants, { url, token: bearer, ...checked, concurrency, signal });
    },
  };
}

function checkSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw invalid(value, "an AbortSignal");
}

function checkPlants(value: unknown): void {
  if (!isIterable(value)) throw invalid(value, "an iterable of plants");
}
