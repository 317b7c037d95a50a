/** Bounds the memory that bodies hold, from their first byte until their answer. */
import { Refusal } from "../../core/errors.ts";
import type { Exchange } from "../exchange/exchange.ts";

/** The bytes of all bodies that are arriving, or wait for the store. */
export class BodyMemory {
  readonly #maxBytes: number;
  readonly #patienceMs: number;
  /** Bodies of which more is to come, the oldest first. */
  readonly #arriving = new Set<Exchange>();
  #bytes = 0;

  /**
   * @param maxBytes at least as many as the largest body may have
   * @param patienceMs a body that has been arriving for longer has to go when there is no room for others
   */
  constructor(maxBytes: number, patienceMs: number) {
    this.#maxBytes = maxBytes;
    this.#patienceMs = patienceMs;
  }

  /** What is held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes room for a piece of a body. When there is none, a client that has been sending for long loses what it has.
   *
   * @param isMoreToCome until {@link BodyMemory.arrived} is called
   */
  take(exchange: Exchange, bytes: number, isMoreToCome = true): boolean {
    while (this.#bytes + bytes > this.#maxBytes) {
      if (!this.#endSlowest(exchange)) return false;
    }
    if (isMoreToCome && exchange.heldBytes === 0) this.#arriving.add(exchange);
    exchange.heldBytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** All of a body is there. */
  arrived(exchange: Exchange): void {
    this.#arriving.delete(exchange);
  }

  /** Gives back all that was taken for a body. */
  free(exchange: Exchange): void {
    if (exchange.heldBytes === 0) return;
    if (this.#arriving.size > 0) this.#arriving.delete(exchange);
    this.#bytes -= exchange.heldBytes;
    exchange.heldBytes = 0;
  }

  /** What those are told for whom there is no room. */
  refusal(): Refusal {
    return new Refusal("overloaded", `${this.#maxBytes} bytes of plants wait already: try again`);
  }

  #endSlowest(except: Exchange): boolean {
    const [slowest] = this.#arriving;
    if (slowest === undefined || slowest === except) return false;
    if (performance.now() - slowest.startedAtMs < this.#patienceMs) return false;
    slowest.break(this.refusal());
    this.free(slowest);
    return true;
  }
}
