/** Bounds the creates that wait for the store, and with them the memory that they hold. */
import { Refusal } from "../../core/errors.ts";

/** Counts what is under way. */
export class Inflight {
  readonly #max: number;
  #count = 0;

  /** @param max at least 1 */
  constructor(max: number) {
    this.#max = max;
  }

  /** How much is under way. */
  get count(): number {
    return this.#count;
  }

  /** @throws Refusal `overloaded` */
  refuseIfFull(): void {
    if (this.#count < this.#max) return;
    throw new Refusal("overloaded", `${this.#max} creates wait already: try again`);
  }

  /**
   * One more is under way, until {@link Inflight.end} is called.
   *
   * @throws Refusal `overloaded`
   */
  begin(): void {
    this.refuseIfFull();
    this.#count++;
  }

  /** One of them has ended. */
  end(): void {
    this.#count--;
  }
}
