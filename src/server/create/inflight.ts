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
   * Does work as one of those that are counted.
   *
   * @throws Refusal `overloaded`, before the work is begun
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.refuseIfFull();
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count--;
    }
  }
}
