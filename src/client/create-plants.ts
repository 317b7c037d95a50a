/** Creates many plants at a time and returns the outcomes in the order of the input. */
import { type NewPlant, toNewPlantJson } from "../core/plant.ts";
import {
  concernsAllCreates,
  isSendable,
  isTooLargeForProxy,
  isUnreachable,
  type ItemResult,
  NotAPlantStoreError,
  type PlantItem,
  type SentResult,
  type StopCause,
  StoppedError,
  toLocalResult,
  toSentResult,
  UnavailableError,
} from "./results.ts";
import {
  sendPlant,
  type SendPlantOptions,
  type Retry,
  toTransientFailure,
} from "./create-plant.ts";
import type { ConnectionPool } from "./http-pool.ts";
import { mapInOrder } from "./map-in-order.ts";

/** An item with its result; undefined if it was not sent, or its response is unknown because the run stopped. */
export interface Outcome<Item> {
  readonly item: Item;
  readonly result: ItemResult | undefined;
}

/** Options for {@link sendPlants}. */
export interface SendPlantsOptions extends Omit<
  SendPlantOptions,
  "post" | "signal" | "isStoreKnown"
> {
  /** Plants in flight at a time; at least 1. */
  readonly concurrency: number;
  /** True to send nothing after the first plant that is not created. */
  readonly isFailFast?: boolean | undefined;
  /** True to send nothing. */
  readonly isDryRun?: boolean | undefined;
  /** Once aborted, no further plant is sent and no attempt is repeated. */
  readonly stopSending: AbortSignal;
  /** Called when no further items are needed; must end them. */
  readonly stopReading: () => void;
  /** Called for each failed attempt before its retry. */
  readonly onRetry?: (retry: Retry) => void;
  /** Sends the requests. The run closes it. */
  readonly pool: ConnectionPool;
}

/** Items in memory for each item in flight: results wait for earlier ones. */
const heldPerPending = 4;
/** Limit for the bytes of all items in memory, each counted {@link heldCopies} times. A single item may have more. */
const maxHeldBytes = 32 * 1024 * 1024;
/** Copies of an item in memory: its bytes, its body as text and on the connection, and three of the response. */
const heldCopies = 6;

/** Failed attempts in a row, of all plants, that mean that the store is unavailable. */
const minFailedAttempts = 3;

/**
 * Creates plants. Plants with the same id are sent one after the other. Items are read only as fast as plants are created
 * and outcomes are taken.
 *
 * The run stops if the token is rejected, if another server responds (a proxy that limits bodies rejects only the plant), or if the store stays unavailable. The store stays
 * unavailable if a plant has no retries left, and no other plant got a decision since its first failure. Unless the server
 * cannot be reached, that takes at least {@link minFailedAttempts}.
 *
 * @returns outcomes in the order of the items, as soon as they are known
 * @throws StoppedError after all outcomes
 * @throws an error of the items after the outcomes of all earlier items
 */
export async function* sendPlants<Item extends PlantItem>(
  items: AsyncIterable<Item>,
  options: SendPlantsOptions,
): AsyncGenerator<readonly Outcome<Item>[], void, undefined> {
  const run = new Run<Item>(options);
  try {
    yield* mapInOrder(items, run.send, {
      concurrency: options.concurrency,
      toSize: run.toSize,
      maxSize: maxHeldBytes,
    });
    run.throwIfStopped();
  } finally {
    await run.close();
  }
}

class Run<Item extends PlantItem> {
  readonly #options: SendPlantsOptions;
  readonly #abort = new AbortController();
  readonly #sendOptions: SendPlantOptions;
  readonly #lastById = new Map<bigint, Promise<unknown>>();
  /** Plants that the store accepted or rejected. */
  #decided = 0;
  #isStoreKnown = false;
  /** Failed attempts since the last decision. */
  #failedAttempts = 0;
  /** Index of the first item that is not created, of a run that fails fast. */
  #firstMissing = Number.POSITIVE_INFINITY;
  #stopError: Error | undefined;

  constructor(options: SendPlantsOptions) {
    this.#options = options;
    this.#sendOptions = {
      ...options,
      post: options.pool.post,
      isStoreKnown: () => this.#isStoreKnown,
      signal: this.#abort.signal,
    };
  }

  readonly toSize = ({ plant, bytes }: Item): number => {
    const { concurrency } = this.#options;
    const bodyLength = this.#isToSend(plant) ? toNewPlantJson(plant).length : 0;
    const size = heldCopies * Math.max(bytes.length, bodyLength);
    return Math.max(size, maxHeldBytes / (heldPerPending * concurrency));
  };

  readonly send = async (item: Item, index: number): Promise<Outcome<Item>> => {
    const { isFailFast, stopReading } = this.#options;
    const { plant } = item;
    if (this.#isStopped(index)) return { item, result: undefined };
    const result = this.#isToSend(plant)
      ? await this.#sendInTurn(plant, index)
      : toLocalResult(plant);
    if (isFailFast && result !== undefined && "error" in result) {
      this.#firstMissing = Math.min(this.#firstMissing, index);
      stopReading();
    }
    return { item, result };
  };

  throwIfStopped(): void {
    if (this.#stopError !== undefined) throw this.#stopError;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#options.stopReading();
    await this.#options.pool.close();
  }

  #isToSend(plant: PlantItem["plant"]): plant is NewPlant {
    return !this.#options.isDryRun && isSendable(plant);
  }

  #isStopped(index: number): boolean {
    return (
      index > this.#firstMissing || this.#abort.signal.aborted || this.#options.stopSending.aborted
    );
  }

  /** Sends plants with the same id one after the other. */
  async #sendInTurn(plant: NewPlant, index: number): Promise<SentResult | undefined> {
    const { id } = plant;
    const send = async () => (this.#isStopped(index) ? undefined : this.#send(plant));
    const current = this.#lastById.get(id)?.then(send) ?? send();
    this.#lastById.set(id, current);
    const result = await current;
    if (this.#lastById.get(id) === current) this.#lastById.delete(id);
    return result;
  }

  /** @returns undefined if the run stops because of the response, or was stopped */
  async #send(plant: NewPlant): Promise<SentResult | undefined> {
    let decidedAtFailure: number | undefined;
    const onRetry = (retry: Retry): void => {
      decidedAtFailure ??= this.#decided;
      this.#failedAttempts++;
      this.#options.onRetry?.(retry);
    };
    const { stopSending } = this.#options;
    try {
      const body = toNewPlantJson(plant);
      const response = await sendPlant(body, this.#sendOptions, onRetry).catch(catchUnavailable);
      const isFailed =
        response instanceof UnavailableError || toTransientFailure(response) !== undefined;
      if (!isFailed && response.ok) this.#isStoreKnown = true;
      if (!isFailed && (response.ok || !concernsAllCreates(response.error.error))) {
        this.#decided++;
        this.#failedAttempts = 0;
        return toSentResult(response);
      }
      // The record is sent again when the run is resumed.
      if (isFailed && stopSending.aborted) return undefined;
      this.#failedAttempts++;
      const isOutage =
        (decidedAtFailure ?? this.#decided) === this.#decided &&
        ((response instanceof UnavailableError && isUnreachable(response)) ||
          this.#failedAttempts >= minFailedAttempts);
      if (isFailed && !isOutage) return toSentResult(response);
      this.#stop(new StoppedError(response as StopCause));
    } catch (error) {
      if (this.#abort.signal.aborted) return undefined;
      if (isTooLargeForProxy(error)) {
        this.#decided++;
        this.#failedAttempts = 0;
        return toSentResult(error);
      }
      this.#stop(error instanceof NotAPlantStoreError ? new StoppedError(error) : (error as Error));
    }
    return undefined;
  }

  #stop(error: Error): void {
    this.#stopError ??= error;
    void this.close();
  }
}

function catchUnavailable(error: unknown): UnavailableError {
  if (error instanceof UnavailableError) return error;
  throw error;
}
