/** Creates many plants of a program, with the results of the command's bulk create. */
import { UnavailableError } from "../client/client-error.ts";
import { createPlants } from "../client/create-plants.ts";
import { toCreateRequest } from "../client/create-messages.ts";
import type { SentResult } from "../client/item-result.ts";
import { StoppedError } from "../client/stopped-error.ts";
import type { NewPlant } from "../core/plant.ts";
import type { clientOptions } from "./client-options.ts";
import type { createManyOptions, OptionValues, PartialValues } from "./options.ts";
import { assertPlantTypes } from "./plant-types.ts";

/** Options for `createMany`. */
export interface CreateManyOptions extends PartialValues<typeof createManyOptions> {
  /** Once aborted, no further plant is sent. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Result for one plant:
 * - `created`, `unchanged`, `replaced`: the plant is in the store
 * - `rejected`: the same request would fail again
 * - `failed`: a retry may succeed; the error has no number if the store sent no response
 */
export type CreateManyResult = SentResult & {
  /** Counts the plants, from 1. */
  readonly record: number;
  /** Id of the plant. */
  readonly id: bigint;
};

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
      lastCall: signal,
      stopReading: source.stop,
    });
    for await (const batch of outcomes) {
      for (const { item, result } of batch) {
        if (result === undefined) continue;
        yield { ...item.identity, ...toPlainResult(result as SentResult) };
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

/** The error of a plant without a response is an object with a message, as all others. */
function toPlainResult(result: SentResult): SentResult {
  const isUnavailable = "error" in result && result.error instanceof UnavailableError;
  return isUnavailable ? { ...result, error: { message: result.error.message } } : result;
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

  async *read(): AsyncGenerator<SourceItem, void, undefined> {
    const plants = this.#plants;
    const iterator =
      Symbol.asyncIterator in plants ? plants[Symbol.asyncIterator]() : plants[Symbol.iterator]();
    try {
      for (;;) {
        const next = await this.#untilStopped(iterator.next());
        if (next === undefined || next.done === true) return;
        const plant = next.value;
        const record = ++this.#count;
        assertPlantTypes(plant, `record ${record}: `);
        yield { plant, bytes: noBytes, identity: { record, id: plant.id } };
      }
    } finally {
      // Not awaited: a generator that waits for its next plant ends only after it.
      Promise.resolve(iterator.return?.()).catch(() => {});
    }
  }

  #untilStopped<T>(result: T | Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#onStop = () => resolve(undefined);
      if (this.#isStopped) resolve(undefined);
      Promise.resolve(result).then(resolve, reject);
    });
  }
}
