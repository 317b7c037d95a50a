/** Creates many plants at a time and returns the outcomes in the order of the input. */
import { toNextStep } from "../core/errors.ts";
import { type NewPlant, toNewPlantJson } from "../core/plant.ts";
import { isRetryable, type Retry, sendPlant, type SendPlantOptions } from "./create-plant.ts";
import type { ClientConnections } from "./http-request.ts";
import { mapInOrder } from "./map-in-order.ts";
import {
  type ErrorResponse,
  isSendable,
  isTooLargeForProxy,
  isUnreachable,
  type ItemOutcome,
  type ItemResult,
  type PlantItem,
  type StopCause,
  StoppedError,
  toItemResult,
  toLocalResult,
  UnavailableError,
} from "./results.ts";

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
  /** Sends the requests. The run closes it. */
  readonly pool: ClientConnections;
}

/** Items in memory for each item in flight: results wait for earlier ones. */
const heldPerPending = 4;
/** Limit for the bytes of all items in memory, each counted {@link heldCopies} times. A single item may have more. */
const maxHeldBytes = 32 * 1024 * 1024;
/** Copies of an item in memory: its bytes, its body as text and on the connection, and three of the response. */
const heldCopies = 6;

/** After so many failed attempts in a row, of all plants, the store counts as unavailable. */
const minFailedAttempts = 3;

/**
 * Creates plants. Plants with the same id are sent one after the other. Items are read only as fast as plants are created
 * and outcomes are taken.
 *
 * The run stops if the token is rejected, if another server responds (a proxy that limits bodies rejects only the plant), or
 * if the store stays unavailable: a plant has no retries left, and no other plant got a decision since its first failure.
 * Unless the server cannot be reached, that takes at least {@link minFailedAttempts}.
 *
 * @returns outcomes in the order of the items, as soon as they are known
 * @throws StoppedError, UnavailableError or NotAPlantStoreError after all outcomes, if the run stops
 * @throws an error of the items after the outcomes of all earlier items
 */
export async function* sendPlants<Item extends PlantItem>(
  items: AsyncIterable<Item>,
  options: SendPlantsOptions,
): AsyncGenerator<readonly ItemOutcome<Item>[], void, undefined> {
  const run = new BulkCreate<Item>(options);
  try {
    yield* mapInOrder(items, run.handle, {
      concurrency: options.concurrency,
      toSize: run.toSize,
      maxSize: maxHeldBytes,
    });
    if (run.stopError !== undefined) throw run.stopError;
  } finally {
    await run.close();
  }
}

class BulkCreate<Item extends PlantItem> {
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
  stopError: Error | undefined;

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

  readonly handle = async (item: Item, index: number): Promise<ItemOutcome<Item>> => {
    const { isFailFast, stopReading } = this.#options;
    const { plant } = item;
    if (this.#isStopped(index)) return [item, undefined];
    const result = this.#isToSend(plant)
      ? await this.#sendInTurn(plant, index)
      : toLocalResult(plant);
    if (isFailFast && result?.ok === false) {
      this.#firstMissing = Math.min(this.#firstMissing, index);
      stopReading();
    }
    return [item, result];
  };

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
  async #sendInTurn(plant: NewPlant, index: number): Promise<ItemResult | undefined> {
    const { id } = plant;
    const start = async () => (this.#isStopped(index) ? undefined : this.#send(plant));
    const current = this.#lastById.get(id)?.then(start) ?? start();
    this.#lastById.set(id, current);
    const result = await current;
    if (this.#lastById.get(id) === current) this.#lastById.delete(id);
    return result;
  }

  /** @returns undefined if the run stops because of the response, or was stopped */
  async #send(plant: NewPlant): Promise<ItemResult | undefined> {
    let decidedAtFailure: number | undefined;
    const onRetry = (retry: Retry): void => {
      decidedAtFailure ??= this.#decided;
      this.#failedAttempts++;
      this.#options.onRetry?.(retry);
    };
    let failure: UnavailableError | StopCause;
    try {
      const response = await sendPlant(toNewPlantJson(plant), { ...this.#sendOptions, onRetry });
      if (response.ok) this.#isStoreKnown = true;
      else if (concernsEveryCreate(response)) throw new StoppedError(response);
      if (response.ok || !isRetryable(response)) return this.#decide(response);
      failure = response;
    } catch (error) {
      if (this.#abort.signal.aborted) return undefined;
      if (isTooLargeForProxy(error)) return this.#decide(error);
      if (!(error instanceof UnavailableError)) {
        this.#stop(error as Error);
        return undefined;
      }
      failure = error;
    }
    // The record is sent again when the run is resumed.
    if (this.#options.stopSending.aborted) return undefined;
    this.#failedAttempts++;
    const isOutage =
      (decidedAtFailure ?? this.#decided) === this.#decided &&
      ((failure instanceof UnavailableError && isUnreachable(failure)) ||
        this.#failedAttempts >= minFailedAttempts);
    if (!isOutage) return toItemResult(failure);
    this.#stop(failure instanceof UnavailableError ? failure : new StoppedError(failure));
    return undefined;
  }

  #decide(decision: Parameters<typeof toItemResult>[0]): ItemResult {
    this.#decided++;
    this.#failedAttempts = 0;
    return toItemResult(decision);
  }

  #stop(error: Error): void {
    this.stopError ??= error;
    void this.close();
  }
}

export function concernsEveryCreate({ error }: ErrorResponse): boolean {
  const next = toNextStep(error.error);
  return next === "token" || next === "server";
}
