/** Why a run of many creates ends early: what came of one plant would come of all others too. */
import { type NotAPlantStoreError, UnavailableError } from "./client-error.ts";
import { type CreateOutcome, toPassingFailure } from "./create-plant.ts";
import type { InputRecord } from "./records/input-record.ts";

/** What came of one record, and would come of all others. */
export type StopCause =
  | (CreateOutcome & { readonly ok: false })
  | UnavailableError
  | NotAPlantStoreError;

/** A run that ended early. */
export class StoppedError<Record extends InputRecord = InputRecord> extends Error {
  override readonly name = "StoppedError";
  override readonly cause: StopCause;
  /** The first record that nothing was told of; it may have been created, and so may all behind it. */
  readonly firstUntold: Record | undefined;

  constructor(cause: StopCause, firstUntold: Record | undefined) {
    super("other plants would fare no better");
    this.cause = cause;
    this.firstUntold = firstUntold;
  }
}

/** Looks at all outcomes of a run for the one that ends it. */
export class StopJudge {
  readonly #concernsAll: (error: number) => boolean;
  readonly #lastCall: AbortSignal;
  #decided = 0;

  /**
   * @param concernsAll whether the number of an Error says that all other creates would fail as well
   * @param lastCall once aborted, a store that stays away is no cause any more
   */
  constructor(concernsAll: (error: number) => boolean, lastCall: AbortSignal) {
    this.#concernsAll = concernsAll;
    this.#lastCall = lastCall;
  }

  /** Plants on which the store has decided, one way or the other. */
  get decided(): number {
    return this.#decided;
  }

  /**
   * The outcome, if it is the one: it concerns all, or the store has stayed away since this plant failed first.
   *
   * @param decidedAtFailure {@link StopJudge.decided} when it failed first; absent: just now
   */
  judge(
    outcome: CreateOutcome | UnavailableError,
    decidedAtFailure = this.#decided,
  ): StopCause | undefined {
    if (!(outcome instanceof UnavailableError)) {
      if (!outcome.ok && this.#concernsAll(outcome.error.error)) return outcome;
      if (outcome.ok || toPassingFailure(outcome) === undefined) {
        this.#decided++;
        return undefined;
      }
    }
    const isAway = decidedAtFailure === this.#decided;
    return isAway && !this.#lastCall.aborted ? outcome : undefined;
  }
}
