/** Hands results on in the order in which their work was begun, and says when there is room for more of it. */
import { setImmediate as endOfTurn } from "node:timers/promises";

/** How much may be held. */
export interface ResultBounds {
  /** Work without a result. */
  readonly maxUnsettled: number;
  /** Work whose result was not taken, settled or not. */
  readonly maxHeld: number;
  /** The sizes of all that together, and of what was taken last. A single piece of work may be larger. */
  readonly maxHeldSize: number;
}

/** Work, and its result. */
export interface SettledWork<Work, Result> {
  readonly work: Work;
  readonly result: Result;
}

interface Entry<Work, Result> {
  readonly work: Work;
  readonly size: number;
  settled?: { readonly result: Result };
}

/** A queue with one who adds to it and one who takes from it. */
export class OrderedResults<Work, Result> {
  readonly #bounds: ResultBounds;
  readonly #entries: Entry<Work, Result>[] = [];
  #unsettled = 0;
  #heldSize = 0;
  /** Of what was taken last: whoever takes has it until the next time. */
  #takenSize = 0;
  #isEnded = false;
  #isCut = false;
  #onRoom: () => void = () => {};
  #onResult: () => void = () => {};

  constructor(bounds: ResultBounds) {
    this.#bounds = bounds;
  }

  /** The first work that has no result. */
  get firstUnsettled(): Work | undefined {
    return this.#entries.find((entry) => entry.settled === undefined)?.work;
  }

  /** Whether no more work may be added. */
  get isFull(): boolean {
    const { maxUnsettled, maxHeld, maxHeldSize } = this.#bounds;
    return (
      this.#unsettled >= maxUnsettled ||
      this.#entries.length >= maxHeld ||
      this.#heldSize >= maxHeldSize
    );
  }

  /** @returns a function that takes the result */
  add(work: Work, size: number): (result: Result) => void {
    const entry: Entry<Work, Result> = { work, size };
    this.#entries.push(entry);
    this.#unsettled++;
    this.#heldSize += size;
    return (result) => {
      entry.settled = { result };
      this.#unsettled--;
      this.#onRoom();
      if (entry === this.#entries[0]) this.#onResult();
    };
  }

  /** Resolves when more work may be added. */
  async hasRoom(): Promise<void> {
    while (this.isFull && !this.#isEnded) {
      await new Promise<void>((resolve) => (this.#onRoom = resolve));
    }
  }

  /** No more work comes. */
  end(): void {
    this.#isEnded = true;
    this.#onRoom();
    this.#onResult();
  }

  /** No more work comes, and no more results. */
  cut(): void {
    this.#isCut = true;
    this.end();
  }

  /**
   * The results that are there, up to the first that is missing; waits for one if need be. Those that were taken before
   * are held no longer.
   *
   * @returns none at the end
   */
  async take(): Promise<readonly SettledWork<Work, Result>[]> {
    this.#release();
    for (;;) {
      const taken = this.#takeSettled();
      if (taken.length > 0 || this.#isCut) return taken;
      if (this.#isEnded && this.#entries.length === 0) return [];
      await new Promise<void>((resolve) => (this.#onResult = resolve));
      await endOfTurn(); // Others of the same turn come along.
    }
  }

  #takeSettled(): SettledWork<Work, Result>[] {
    const taken: SettledWork<Work, Result>[] = [];
    for (const { work, size, settled } of this.#entries) {
      if (settled === undefined) break;
      this.#takenSize += size;
      taken.push({ work, result: settled.result });
    }
    this.#entries.splice(0, taken.length);
    if (taken.length > 0) this.#onRoom();
    return taken;
  }

  #release(): void {
    this.#heldSize -= this.#takenSize;
    this.#takenSize = 0;
    this.#onRoom();
  }
}
