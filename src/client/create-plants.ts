/** Creates many plants, several at a time, and tells what came of them in the order in which they came in. */
import { setMaxListeners } from "node:events";
import { RequestError } from "../core/errors.ts";
import { toNewPlantJson } from "../core/plant.ts";
import { NotAPlantStoreError, UnavailableError } from "./client-error.ts";
import {
  createPlant,
  type CreateOutcome,
  type CreatePlantOptions,
  type Retry,
} from "./create-plant.ts";
import { openConnections } from "./http/connections.ts";
import type { Connections } from "./http/message.ts";
import type { InputRecord } from "./records/input-record.ts";
import { OrderedResults, type SettledWork } from "./ordered-results.ts";
import { createPace } from "./pace.ts";
import { createSequencer } from "./sequencer.ts";
import { type StopCause, StoppedError, StopJudge } from "./stop-cause.ts";

/** How plants are created. */
export interface CreatePlantsOptions extends Omit<CreatePlantOptions, "postFirst"> {
  /** Records that are being created at a time; at least 1. */
  readonly concurrency: number;
  /** Records that are begun in a second; Infinity: as many as the store takes. */
  readonly ratePerSecond: number;
  /** Whether the number of an Error says that all other creates would fail as well. */
  readonly concernsAll: (error: number) => boolean;
  /** Once aborted, no attempt is repeated any more. */
  readonly lastCall: AbortSignal;
  /** Is told of each attempt that failed and will be repeated. */
  readonly onRetry?: (retry: Retry) => void;
}

/** What came of a record: an answer, the refusal of what is no plant, or no answer. */
export type RecordResult = CreateOutcome | RequestError | UnavailableError;

/** A record, and what came of it. */
export type RecordOutcome<Record extends InputRecord = InputRecord> = SettledWork<
  Record,
  RecordResult
>;

/** Results that may wait for an earlier one, for each record that is being created. */
const heldPerUnsettled = 4;
/**
 * The bytes of all records that are held, each counted {@link heldCopies} times; one alone may have more. Measured: with
 * twice as many, large records take more memory and are created no faster.
 */
const maxHeldBytes = 32 * 1024 * 1024;
/**
 * What becomes of a record until it is told: its own bytes, its body as text and on the connection, and the answer in
 * pieces, as a whole and as text.
 */
const heldCopies = 6;

/**
 * Creates the plants that records hold, those with the same id one after the other. Records are read only as fast as
 * they are created and their outcomes taken.
 *
 * It stops at once when the token is refused, when something else than a plant store answers, and when the store stays
 * away: when a record may not be tried again, and no other one was answered since it failed first.
 *
 * @param records those together that come in together
 * @returns outcomes in the order of the records, as soon as they are known
 * @throws StoppedError after all outcomes before the first that is unknown
 * @throws what reading the records throws, after all outcomes of those before
 * @throws the signal's reason
 */
export async function* createPlants<Record extends InputRecord>(
  records: AsyncIterable<Iterable<Record>>,
  options: CreatePlantsOptions,
): AsyncGenerator<readonly RecordOutcome<Record>[], void, undefined> {
  const run = new Run<Record>(options);
  try {
    void run.createAll(records);
    for (;;) {
      const outcomes = await run.results.take();
      if (outcomes.length === 0) break;
      yield outcomes;
    }
    run.throwIfFailed();
  } finally {
    await run.cutOff();
  }
}

class Run<Record extends InputRecord> {
  readonly results: OrderedResults<Record, RecordResult>;
  readonly #options: CreatePlantsOptions;
  readonly #createOptions: CreatePlantOptions;
  readonly #connections: Connections;
  readonly #inTurn = createSequencer<bigint>();
  readonly #judge: StopJudge;
  readonly #cutOff = new AbortController();
  #stopCause: StopCause | undefined;
  #failure: { readonly error: unknown } | undefined;
  readonly #onAbort = (): void => this.#fail(this.#options.signal?.reason);

  constructor(options: CreatePlantsOptions) {
    const { baseUrl, timeoutMs, concurrency, concernsAll, lastCall, signal } = options;
    this.#options = options;
    this.#judge = new StopJudge(concernsAll, lastCall);
    this.#connections = openConnections(new URL(baseUrl).origin, concurrency, timeoutMs);
    this.#createOptions = {
      ...options,
      postFirst: this.#connections.post,
      signal: this.#cutOff.signal,
    };
    // Each record that waits for its next attempt listens.
    setMaxListeners(0, this.#cutOff.signal, lastCall);
    this.results = new OrderedResults({
      maxUnsettled: concurrency,
      maxHeld: heldPerUnsettled * concurrency,
      maxHeldSize: maxHeldBytes,
    });
    signal?.addEventListener("abort", this.#onAbort);
    if (signal?.aborted) this.#onAbort();
  }

  async createAll(pieces: AsyncIterable<Iterable<Record>>): Promise<void> {
    const { ratePerSecond, lastCall } = this.#options;
    const pace = createPace(ratePerSecond, [this.#cutOff.signal, lastCall]);
    try {
      for await (const records of pieces) {
        for (const record of records) {
          // After the last call too it is begun: it was read, and whoever goes on does so behind it.
          if (pace !== undefined) await pace();
          if (this.#cutOff.signal.aborted) return;
          this.#begin(record);
          if (this.results.isFull) await this.results.hasRoom();
        }
      }
    } catch (error) {
      this.#failure ??= { error };
    }
    this.results.end();
  }

  throwIfFailed(): void {
    if (this.#stopCause !== undefined) {
      throw new StoppedError(this.#stopCause, this.results.firstUnsettled);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async cutOff(): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#cutOff.abort();
    this.results.cut();
    await this.#connections.close();
  }

  #begin(record: Record): void {
    const draft = toDraft(record);
    const settle = this.results.add(record, heldCopies * countBytes(record, draft));
    if (draft instanceof RequestError) settle(draft);
    else void this.#create(draft, settle);
  }

  async #create({ id, body }: Draft, settle: (result: RecordResult) => void): Promise<void> {
    try {
      await this.#inTurn(id, async () => {
        const outcome = await this.#send(body);
        if (outcome !== undefined) settle(outcome);
      });
    } catch (error) {
      if (error instanceof NotAPlantStoreError) this.#stop(error);
      else if (!this.#cutOff.signal.aborted) this.#fail(error);
    }
  }

  /** @returns undefined when the run stops because of it */
  async #send(body: string): Promise<CreateOutcome | UnavailableError | undefined> {
    let decidedAtFailure: number | undefined;
    const onRetry = (retry: Retry): void => {
      decidedAtFailure ??= this.#judge.decided;
      this.#options.onRetry?.(retry);
    };
    const outcome = await createPlant(body, this.#createOptions, onRetry).catch(toUnavailable);
    const cause = this.#judge.judge(outcome, decidedAtFailure);
    if (cause !== undefined) this.#stop(cause);
    return cause === undefined ? outcome : undefined;
  }

  #stop(cause: StopCause): void {
    this.#stopCause ??= cause;
    this.#cutOff.abort();
    this.results.cut();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#cutOff.abort();
    this.results.cut();
  }
}

/** What is kept of a plant while it is created; the plant itself would be one more copy. */
interface Draft {
  readonly id: bigint;
  readonly body: string;
}

function toDraft(record: InputRecord): Draft | RequestError {
  try {
    const plant = record.parse();
    return { id: plant.id, body: toNewPlantJson(plant) };
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

/** Those of the body can be more: it has characters as escapes which stand for themselves in a table. */
function countBytes({ bytes }: InputRecord, draft: Draft | RequestError): number {
  return draft instanceof RequestError ? bytes.length : Math.max(bytes.length, draft.body.length);
}

function toUnavailable(error: unknown): UnavailableError {
  if (error instanceof UnavailableError) return error;
  throw error;
}
