/** Limits how much work, memory and how many connections the server accepts. */
import { RequestError } from "../core/errors.ts";
import type { ServerLimits } from "./options.ts";

/** Maximum number of requests in flight on one connection. */
export const maxPipelined = 32;

/** Current load of a server. */
export interface ServerLoad {
  /** Creates that wait for the store. */
  readonly creates: number;
  /** Bytes of request bodies, and of responses that are not yet sent. */
  readonly waitingBytes: number;
  readonly connections: number;
}

/** A connection that can be closed to make room for another one. */
export interface IdleConnection {
  close(): void;
}

/** Counts what the server holds, and decides whether it accepts more. */
export class Admission {
  readonly #limits: ServerLimits;
  /** Age from which a transfer must make room for others. */
  readonly #minEvictionAgeMs: number;
  readonly #budget: Budget = {
    take: (bytes, isForced) => this.#take(bytes, isForced),
    transfers: new Set(),
  };
  /** Idle connections, longest idle first. */
  readonly #idle = new Set<IdleConnection>();
  #creates = 0;
  #bytes = 0;
  #connections = 0;

  constructor(limits: ServerLimits) {
    this.#limits = limits;
    this.#minEvictionAgeMs = limits.requestTimeoutMs / 12;
  }

  get load(): ServerLoad {
    return { creates: this.#creates, waitingBytes: this.#bytes, connections: this.#connections };
  }

  /** Returns an error if no further create may wait for the store. */
  checkCreates(): RequestError | undefined {
    const { maxInflight } = this.#limits;
    if (this.#creates < maxInflight) return undefined;
    return new RequestError("overloaded", `${maxInflight} creates are waiting: try again`);
  }

  /** Counts a create until {@link Admission.endCreate}. Returns an error if it may not wait for the store. */
  beginCreate(): RequestError | undefined {
    const error = this.checkCreates();
    if (error === undefined) this.#creates++;
    return error;
  }

  endCreate(): void {
    this.#creates--;
  }

  /**
   * Counts a connection. If there are too many, closes the one that has been idle longest.
   *
   * @returns an error if all connections are busy; the connection is counted in any case
   */
  addConnection(): RequestError | undefined {
    const { maxConnections } = this.#limits;
    if (++this.#connections <= maxConnections) return undefined;
    const [longestIdle] = this.#idle;
    if (longestIdle === undefined) {
      return new RequestError("overloaded", `${maxConnections} connections are open: try again`);
    }
    this.#idle.delete(longestIdle);
    longestIdle.close();
    return undefined;
  }

  removeConnection(): void {
    this.#connections--;
  }

  markIdle(connection: IdleConnection): void {
    this.#idle.add(connection);
  }

  /** Call it as well when the connection is closed. */
  markBusy(connection: IdleConnection): void {
    this.#idle.delete(connection);
  }

  /** Creates the reservation of one request. */
  createReservation(transfer: Transfer): Reservation {
    return new Reservation(transfer, this.#budget);
  }

  /** Error for a body that does not fit. */
  get bytesError(): RequestError {
    const { maxWaitingBytes } = this.#limits;
    return new RequestError("overloaded", `${maxWaitingBytes} bytes are waiting: try again`);
  }

  /** @param isForced whether the bytes exist already: they are counted, and transfers of any age make room */
  #take(bytes: number, isForced: boolean): boolean {
    const isOver = (): boolean => this.#bytes + bytes > this.#limits.maxWaitingBytes;
    if (bytes > 0 && isOver()) {
      const youngestMs = performance.now() - (isForced ? 0 : this.#minEvictionAgeMs);
      for (const reservation of this.#budget.transfers) {
        if (!isOver() || reservation.startedAtMs > youngestMs) break;
        reservation.evict(this.bytesError);
      }
      if (isOver() && !isForced) return false;
    }
    this.#bytes += bytes;
    return true;
  }
}

/** A request whose body or response can be given up to make room for others. */
export interface Transfer {
  /** Ends the transfer, with this error if no response is sent yet. */
  evict(error: RequestError): void;
}

/** What a reservation uses of its {@link Admission}. */
interface Budget {
  take(bytes: number, isForced: boolean): boolean;
  /** Transfers that wait for their client, oldest first. */
  readonly transfers: Set<Reservation>;
}

/**
 * The bytes that one request holds: those of its body while it arrives and while the plant waits for the store, then
 * those of its response until they are sent.
 */
export class Reservation {
  readonly #transfer: Transfer;
  readonly #budget: Budget;
  #bytes = 0;
  #startedAtMs = 0;

  constructor(transfer: Transfer, budget: Budget) {
    this.#transfer = transfer;
    this.#budget = budget;
  }

  /** Start of the transfer, in milliseconds of `performance.now()`. */
  get startedAtMs(): number {
    return this.#startedAtMs;
  }

  /** Adds bytes of the body. Returns false if they do not fit. */
  add(bytes: number): boolean {
    if (!this.#budget.take(bytes, false)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Replaces the bytes of the body by those of the response. */
  replace(bytes: number): void {
    this.#budget.take(bytes - this.#bytes, true);
    this.#bytes = bytes;
  }

  /** From now on, the client is the reason why the bytes are held. */
  startTransfer(): void {
    if (this.#budget.transfers.has(this)) return;
    this.#startedAtMs = performance.now();
    this.#budget.transfers.add(this);
  }

  /** The body is complete. */
  endTransfer(): void {
    this.#budget.transfers.delete(this);
  }

  release(): void {
    this.endTransfer();
    this.#budget.take(-this.#bytes, true);
    this.#bytes = 0;
  }

  /** Releases the bytes and ends the transfer. */
  evict(error: RequestError): void {
    this.release();
    this.#transfer.evict(error);
  }
}
