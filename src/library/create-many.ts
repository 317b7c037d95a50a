/** Creates many plants of a program, with the results of the command's bulk create. */
import { UnavailableError } from "../client/client-error.ts";
import { createPlants, type ItemResult } from "../client/create-plants.ts";
import { toCreateRequest } from "../client/create-request.ts";
import { type ItemStatus, toItemStatus } from "../client/item-status.ts";
import { StoppedError } from "../client/stopped-error.ts";
import type { NewPlant, Plant } from "../core/plant.ts";
import type { clientOptions, createManyOptions, OptionValues } from "./options.ts";
import { assertPlantTypes } from "./plant-types.ts";

/** Options for `createMany`. */
export interface CreateManyOptions extends Partial<OptionValues<typeof createManyOptions>> {
  /** Once aborted, no further plant is sent. */
  readonly signal?: AbortSignal | undefined;
}

/** Result for one plant. */
export type CreateManyResult = {
  /** Counts the plants, from 1. */
  readonly record: number;
  readonly id: bigint;
} & (
  | {
      /** The plant is in the store. */
      readonly status: Exclude<ItemStatus, "rejected" | "failed">;
      readonly plant: Plant;
    }
  | {
      /** `rejected`: the same request would fail again; `failed`: a retry may succeed. */
      readonly status: "rejected" | "failed";
      readonly error: {
        /** Missing if the store sent no response. */
        readonly error?: number;
        readonly message: string;
      };
      /** Id of the request in the server's log. */
      readonly requestId?: string | undefined;
    }
);

/** Checked options. */
interface CheckedOptions extends OptionValues<typeof clientOptions & typeof createManyOptions> {
  readonly url: string;
  readonly token: string;
  readonly signal: AbortSignal | undefined;
}

/** Creates plants; see `PlantClient.createMany`. */
export async function* createMany(
  plants: Iterable<NewPlant> | AsyncIterable<NewPlant>,
  { url, token, ca, signal = new AbortController().signal, ...options }: CheckedOptions,
): AsyncGenerator<CreateManyResult, void, undefined> {
  const source = new PlantSource(plants);
  signal.addEventListener("abort", source.stop);
  if (signal.aborted) source.stop();
  try {
    const outcomes = createPlants(source.read(), {
      ...options,
      request: toCreateRequest(url, token, { ca }),
      ratePerSecond: Number.POSITIVE_INFINITY,
      isFailFast: false,
      lastCall: signal,
      stopReading: source.stop,
    });
    for await (const batch of outcomes) {
      for (const { item, result } of batch) {
        if (result !== undefined) yield { ...toItemResult(result), ...item.identity };
      }
    }
    signal.throwIfAborted();
  } catch (error) {
    const isException = error instanceof StoppedError && error.cause instanceof Error;
    throw isException ? error.cause : error;
  } finally {
    signal.removeEventListener("abort", source.stop);
  }
}

function toItemResult(result: ItemResult) {
  const status = toItemStatus(result);
  if ("ok" in result && result.ok) {
    return { status: status as "created", plant: result.plant };
  }
  const failed = status as "rejected" | "failed";
  if ("ok" in result) {
    return { status: failed, error: result.error, requestId: result.requestId };
  }
  const { message } = result;
  const error = result instanceof UnavailableError ? { message } : result;
  return { status: failed, error };
}

interface SourceItem {
  readonly plant: NewPlant;
  readonly bytes: Uint8Array;
  readonly identity: Pick<CreateManyResult, "record" | "id">;
}

const noBytes = new Uint8Array();

/** The plants of a program. It can be stopped, also while it waits for the next plant. */
class PlantSource {
  readonly #plants: Iterable<NewPlant> | AsyncIterable<NewPlant>;
  #count = 0;
  #isStopped = false;
  #onStop: () => void = () => {};

  constructor(plants: Iterable<NewPlant> | AsyncIterable<NewPlant>) {
    this.#plants = plants;
  }

  readonly stop = (): void => {
    this.#isStopped = true;
    this.#onStop();
  };

  async *read(): AsyncGenerator<Iterable<SourceItem>, void, undefined> {
    if (!(Symbol.asyncIterator in this.#plants)) {
      yield this.#toItems(this.#plants);
      return;
    }
    const iterator = this.#plants[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#untilStopped(iterator.next());
        if (next === undefined || next.done === true) return;
        yield this.#toItems([next.value]);
      }
    } finally {
      // Not awaited: a generator that waits for its next plant ends only after it.
      Promise.resolve(iterator.return?.()).catch(() => {});
    }
  }

  *#toItems(plants: Iterable<NewPlant>): Generator<SourceItem, void, undefined> {
    for (const plant of plants) {
      const record = ++this.#count;
      assertPlantTypes(plant, `record ${record}: `);
      yield { plant, bytes: noBytes, identity: { record, id: plant.id } };
      if (this.#isStopped) return;
    }
  }

  #untilStopped<T>(result: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#onStop = () => resolve(undefined);
      if (this.#isStopped) resolve(undefined);
      result.then(resolve, reject);
    });
  }
}
