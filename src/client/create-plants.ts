/** Creates many plants at a time and returns the outcomes in the order of the input. */
import { setMaxListeners } from "node:events";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { pMapIterable } from "p-map";
import { type NewPlant, toNewPlantJson } from "../core/plant.ts";
import { NotAPlantStoreError, UnavailableError } from "./client-error.ts";
import {
  createPlant,
  type CreateOutcome,
  type CreatePlantOptions,
  type Retry,
  toTransientFailure,
} from "./create-plant.ts";
import { concernsAllCreates } from "./error-category.ts";
import type { Post } from "./http/message.ts";
import { type ConnectionPool, openPool } from "./http/pool.ts";
import { createPace } from "./pause.ts";
import { type StopCause, StoppedError } from "./stopped-error.ts";

/** Reason for which a plant is not sent. */
export interface Rejection {
  /** A number of the error table, if a rule of the service is broken. */
  readonly error?: number;
  readonly message: string;
  /** True if the item is not a plant, and nothing is wrong with it. */
  readonly isSkipped?: true;
}

/** A plant to create. */
export interface PlantItem {
  readonly plant: NewPlant | Rejection;
  /** Bytes that the item holds in memory. */
  readonly bytes: Uint8Array;
}

/** Options for {@link createPlants}. */
export interface CreatePlantsOptions extends Omit<CreatePlantOptions, "post" | "signal"> {
  /** Plants in flight at a time; at least 1. */
  readonly concurrency: number;
  /** Plants that are sent per second; Infinity for no limit. */
  readonly ratePerSecond: number;
  /** True to send nothing after the first plant that is not created. */
  readonly isFailFast: boolean;
  /** Once aborted, no further plant is sent and no attempt is repeated. */
  readonly lastCall: AbortSignal;
  /** Called when no further items are needed; must end them. */
  readonly stopReading: () => void;
  /** Called for each failed attempt before its retry. */
  readonly onRetry?: (retry: Retry) => void;
  /** Replaces the function that sends a request, for example to print it. */
  readonly wrapPost?: (post: Post) => Post;
}

/** Result for one item. */
export type ItemResult = CreateOutcome | UnavailableError | Rejection;

/** An item with its result; undefined if it was not sent, or its response is unknown because the run stopped. */
export interface Outcome<Item> {
  readonly item: Item;
  readonly result: ItemResult | undefined;
}

/** Items in memory for each item in flight: results wait for earlier ones. */
const heldPerPending = 4;
/** Limit for the bytes of all items in memory, each counted {@link heldCopies} times. A single item may have more. */
const maxHeldBytes = 32 * 1024 * 1024;
/** Copies of an item in memory: its bytes, its body as text and on the connection, and three of the response. */
const heldCopies = 6;

/** Failed attempts in a row, of all plants, that mean that the store is unavailable. */
const minFailedAttempts = 3;

/** Checks whether a result means that the plant is in the store, or that the item was skipped. */
function isDone(result: ItemResult): boolean {
  return "ok" in result ? result.ok : "isSkipped" in result;
}

/**
 * Creates plants. Plants with the same id are sent one after the other. Items are read only as fast as plants are created
 * and outcomes are taken.
 *
 * The run stops if the token is rejected, if another server responds, or if the store stays unavailable. The store stays
 * unavailable if a plant has no retries left, and no other plant got a decision since its first failure. Unless the server
 * cannot be reached, that takes at least {@link minFailedAttempts}.
 *
 * @param items in the groups in which they arrive
 * @returns outcomes in the order of the items, as soon as they are known
 * @throws StoppedError after all outcomes
 * @throws an error of the items after the outcomes of all earlier items
 */
export async function* createPlants<Item extends PlantItem>(
  items: AsyncIterable<Iterable<Item>>,
  options: CreatePlantsOptions,
): AsyncGenerator<readonly Outcome<Item>[], void, undefined> {
  const run = new Run<Item>(options);
  try {
    const { concurrency } = options;
    const outcomes = pMapIterable(run.read(items), run.create, {
      concurrency,
      backpressure: Number.POSITIVE_INFINITY,
    });
    for await (const batch of toBatches(outcomes)) {
      yield batch;
      run.release(batch);
    }
    run.throwIfStopped();
  } finally {
    await run.close();
  }
}

/** An item on its way through the run. */
interface Job<Item> {
  readonly item: Item;
  /** Empty after the request. */
  body: string;
  result: ItemResult | undefined;
  /** Share of {@link maxHeldBytes}. */
  readonly size: number;
}

class Run<Item extends PlantItem> {
  readonly #options: CreatePlantsOptions;
  readonly #pool: ConnectionPool;
  readonly #cutOff = new AbortController();
  readonly #createOptions: CreatePlantOptions;
  readonly #lastById = new Map<bigint, Promise<unknown>>();
  /** Plants that the store accepted or rejected. */
  #decided = 0;
  /** Failed attempts since the last decision. */
  #failedAttempts = 0;
  #firstFailed = Number.POSITIVE_INFINITY;
  #stopCause: StopCause | undefined;
  #heldSize = 0;
  #onRelease: () => void = () => {};

  constructor(options: CreatePlantsOptions) {
    const { request, timeoutMs, concurrency, lastCall } = options;
    this.#options = options;
    this.#pool = openPool(request.url, concurrency, timeoutMs, request.ca);
    const post = options.wrapPost?.(this.#pool.post) ?? this.#pool.post;
    this.#createOptions = { ...options, post, signal: this.#cutOff.signal };
    // Each pause before a retry listens to both.
    setMaxListeners(0, this.#cutOff.signal, lastCall);
  }

  async *read(groups: AsyncIterable<Iterable<Item>>): AsyncGenerator<Job<Item>, void, undefined> {
    const { ratePerSecond, concurrency, lastCall } = this.#options;
    const pace = createPace(ratePerSecond, [this.#cutOff.signal, lastCall]);
    for await (const items of groups) {
      for (const item of items) {
        const body = "message" in item.plant ? "" : toNewPlantJson(item.plant);
        const bytes = heldCopies * Math.max(item.bytes.length, body.length);
        const size = Math.max(bytes, maxHeldBytes / (heldPerPending * concurrency));
        this.#heldSize += size;
        if (ratePerSecond !== Number.POSITIVE_INFINITY) await pace();
        yield { item, body, size, result: undefined };
        while (this.#heldSize >= maxHeldBytes && !this.#cutOff.signal.aborted) {
          await new Promise<void>((resolve) => (this.#onRelease = resolve));
        }
        if (this.#isStopped(Number.POSITIVE_INFINITY)) return;
      }
    }
  }

  readonly create = async (job: Job<Item>, index: number): Promise<Job<Item>> => {
    const { plant } = job.item;
    if (this.#isStopped(index)) return job;
    const result = "message" in plant ? plant : await this.#createInTurn(plant.id, job.body, index);
    if (this.#options.isFailFast && result !== undefined && !isDone(result)) {
      this.#firstFailed = Math.min(this.#firstFailed, index);
      this.#options.stopReading();
    }
    job.result = result;
    job.body = "";
    return job;
  };

  release(batch: readonly Job<Item>[]): void {
    for (const { size } of batch) this.#heldSize -= size;
    this.#onRelease();
  }

  throwIfStopped(): void {
    if (this.#stopCause !== undefined) throw new StoppedError(this.#stopCause);
  }

  async close(): Promise<void> {
    this.#cutOff.abort();
    this.#onRelease();
    this.#options.stopReading();
    await this.#pool.close();
  }

  #isStopped(index: number): boolean {
    return (
      index > this.#firstFailed || this.#cutOff.signal.aborted || this.#options.lastCall.aborted
    );
  }

  async #createInTurn(id: bigint, body: string, index: number): Promise<ItemResult | undefined> {
    const previous = this.#lastById.get(id);
    const send = async () => (this.#isStopped(index) ? undefined : this.#send(body));
    const current = previous === undefined ? send() : previous.then(send, send);
    this.#lastById.set(id, current);
    try {
      return await current;
    } finally {
      if (this.#lastById.get(id) === current) this.#lastById.delete(id);
    }
  }

  /** @returns undefined if the run stops because of the result, or was stopped */
  async #send(body: string): Promise<CreateOutcome | UnavailableError | undefined> {
    let decidedAtFailure: number | undefined;
    const onRetry = (retry: Retry): void => {
      decidedAtFailure ??= this.#decided;
      this.#failedAttempts++;
      this.#options.onRetry?.(retry);
    };
    const { lastCall } = this.#options;
    try {
      const result = await createPlant(body, this.#createOptions, onRetry).catch(toUnavailable);
      const isFailed =
        result instanceof UnavailableError || toTransientFailure(result) !== undefined;
      if (!isFailed && (result.ok || !concernsAllCreates(result.error.error))) {
        this.#decided++;
        this.#failedAttempts = 0;
        return result;
      }
      // The record is sent again when the run is resumed.
      if (isFailed && lastCall.aborted) return undefined;
      this.#failedAttempts++;
      const isOutage =
        (decidedAtFailure ?? this.#decided) === this.#decided &&
        (isUnreachable(result) || this.#failedAttempts >= minFailedAttempts);
      if (isFailed && !isOutage) return result;
      this.#stop(result as StopCause);
    } catch (error) {
      if (this.#cutOff.signal.aborted) return undefined;
      if (!(error instanceof NotAPlantStoreError)) throw error;
      this.#stop(error);
    }
    return undefined;
  }

  #stop(cause: StopCause): void {
    this.#stopCause ??= cause;
    void this.close();
  }
}

/** Checks for a failure before the connection was open, which no other plant can avoid. */
function isUnreachable(result: CreateOutcome | UnavailableError): boolean {
  const reasons: readonly string[] = ["refused", "unknownHost", "insecure"];
  return result instanceof UnavailableError && reasons.includes(result.reason);
}

function toUnavailable(error: unknown): UnavailableError {
  if (error instanceof UnavailableError) return error;
  throw error;
}

/** Groups the results that become known in the same turn of the event loop. */
async function* toBatches<T>(results: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let wake = (): void => {};
  const collect = async (): Promise<void> => {
    for await (const result of results) {
      batch.push(result);
      wake();
    }
  };
  const state: { ended?: PromiseSettledResult<void> } = {};
  void Promise.allSettled([collect()]).then(([ended]) => {
    state.ended = ended;
    wake();
  });
  while (state.ended === undefined || batch.length > 0) {
    if (batch.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    await endOfTurn();
    const taken = batch;
    batch = [];
    if (taken.length > 0) yield taken;
  }
  if (state.ended.status === "rejected") throw state.ended.reason;
}
