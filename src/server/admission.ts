/** Limits how much work, memory and how many connections the server accepts. */
import { RequestError } from "../core/errors.ts";

/**
 * Maximum number of bytes in request bodies and in responses that are not yet sent. A body that does not fit gets 50301.
 * `--max-body` can't be larger.
 */
export const maxWaitingBytes = 64 * 1024 * 1024;

/** Maximum length of a page of plants, in bytes, unless it has one plant only. */
export const maxPageBytes = 2 ** 20;

/** Limits that keep a single client from using up the server. */
export interface ServerLimits {
  /** Maximum size of a request body, in bytes. */
  readonly maxBodyBytes: number;
  /** Maximum number of changes that wait for the store; one more gets 50301. */
  readonly maxInflight: number;
  /** Replaces {@link maxWaitingBytes} in tests; at least {@link maxBodyBytes}. */
  readonly maxWaitingBytes?: number;
  /**
   * Maximum number of connections. One more closes the connection that has been idle longest, or ends the oldest slow transfer,
   * or gets 50301.
   */
  readonly maxConnections: number;
  /** Time for a complete request to arrive; its headers must arrive in a third of it. */
  readonly requestTimeoutMs: number;
  /** Time after which an idle connection is closed. */
  readonly idleTimeoutMs: number;
}

/** Maximum number of requests in flight on one connection. */
export const maxPipelined = 32;

/** Number of requests in flight that busy connections share; each may have at least one. */
const maxPipelinedTogether = 512;

/** A response of at most so many bytes, such as an Error, evicts nothing. */
const fewBytes = 8 * 1024;

/** Maximum number of connections above the limit whose transfer was ended and whose client still reads the error. */
export const maxDraining = 100;

/** Current load of a server. */
export interface ServerLoad {
  /** Changes that wait for the store. */
  readonly changes: number;
  /** Bytes of request bodies, and of responses that are not yet sent. */
  readonly waitingBytes: number;
  readonly connections: number;
}

/** A connection that can be closed to make room for another one. */
export interface IdleConnection {
  close(): void;
}

/**
 * A request that holds bytes: those of its body until its plant is stored, or of its page while it is read, then those of its
 * response until it is sent. Only {@link Admission} writes the first two fields.
 */
export interface ByteHolder {
  heldBytes: number;
  /** True for a request for a page of plants. */
  isPage: boolean;
  /** Gives up the body with this error or, if a response is being sent, the connection. */
  evict(error: RequestError): void;
}

/** Counts what the server holds, and decides whether it accepts more. */
export class Admission {
  readonly #limits: Required<ServerLimits>;
  /** Holders that wait for their client, oldest first, and since when, in milliseconds of `performance.now()`. */
  readonly #transfers = new Map<ByteHolder, number>();
  #bytes = 0;
  /** The part of them that pages have. */
  #pageBytes = 0;
  /** Idle connections, longest idle first. */
  readonly idle = new Set<IdleConnection>();
  /** Number of changes that wait for the store. */
  changes = 0;
  /** Number of connections. */
  connections = 0;

  constructor(limits: ServerLimits) {
    this.#limits = { maxWaitingBytes, ...limits };
  }

  get load(): ServerLoad {
    return { changes: this.changes, waitingBytes: this.#bytes, connections: this.connections };
  }

  /** Number of requests in flight above which a connection is not read: fewer while many connections are busy. */
  get pipelineDepth(): number {
    const busy = Math.max(1, this.connections - this.idle.size);
    return Math.min(maxPipelined, Math.ceil(maxPipelinedTogether / busy));
  }

  /** Returns an error if no further change may wait for the store. */
  checkChanges(): RequestError | undefined {
    const { maxInflight } = this.#limits;
    if (this.changes < maxInflight) return undefined;
    return overloaded(`${maxInflight} changes are in flight`);
  }

  /**
   * Counts a connection. If there are too many, closes the one that has been idle longest, or else ends the oldest slow
   * transfer. A client that never reads, or never sends the rest of a body, keeps no other client out.
   *
   * @returns an error if all connections are busy; the connection is counted in any case
   */
  addConnection(): RequestError | undefined {
    const { maxConnections } = this.#limits;
    if (++this.connections <= maxConnections) return undefined;
    const [longestIdle] = this.idle;
    if (longestIdle !== undefined) {
      this.idle.delete(longestIdle);
      longestIdle.close();
      return undefined;
    }
    const error = overloaded(`${maxConnections} connections are open`);
    const [oldest] = this.#transfers.keys();
    const isFull = this.connections > maxConnections + maxDraining;
    if (isFull || oldest === undefined || !this.#isSlow(oldest)) return error;
    this.release(oldest);
    oldest.evict(error);
    return undefined;
  }

  /** Counts bytes of a body, or returns an error if they do not fit even after slow transfers were ended. An empty body fits. */
  hold(holder: ByteHolder, bytes: number): RequestError | undefined {
    const isOver = (): boolean => this.#isOver(bytes);
    if (bytes > 0 && isOver()) {
      const wasTransfer = this.#transfers.has(holder);
      const error = overloaded(`${this.#limits.maxWaitingBytes} bytes are in memory`);
      this.#makeRoom(isOver, error, (other) => this.#isSlow(other));
      const isEvicted = wasTransfer && !this.#transfers.has(holder);
      if (isEvicted || isOver()) return error;
    }
    this.#count(holder, bytes);
    return undefined;
  }

  /**
   * Returns an error if no further page may be read, even after slow transfers of pages were ended. All pages together have half
   * of the memory, so that a create always finds room.
   */
  checkPages(): RequestError | undefined {
    const maxBytes = this.#limits.maxWaitingBytes / 2;
    const isOver = (): boolean => this.#pageBytes + maxPageBytes > maxBytes;
    if (!isOver()) return undefined;
    const error = overloaded(`${maxBytes} bytes of pages are in memory`);
    this.#makeRoom(isOver, error, (other) => other.isPage && this.#isSlow(other));
    return isOver() ? error : undefined;
  }

  /** Counts a page before it is read, as one of the maximum length. */
  holdPage(holder: ByteHolder): RequestError | undefined {
    const error = this.checkPages();
    if (error !== undefined) return error;
    holder.isPage = true;
    return this.hold(holder, maxPageBytes);
  }

  /**
   * Counts the bytes of the response instead of those held before. The response exists already, so a large one evicts whatever
   * waits for its client. A small one evicts nothing: otherwise the error for an evicted body would evict the next one.
   */
  holdResponse(holder: ByteHolder, bytes: number): void {
    this.release(holder);
    if (bytes > fewBytes && this.#isOver(bytes)) {
      const isOver = (): boolean => this.#isOver(bytes);
      this.#makeRoom(isOver, overloaded("the memory is needed"), () => true);
    }
    this.#count(holder, bytes);
  }

  /** From now on, the holder waits for its client. */
  startTransfer(holder: ByteHolder): void {
    if (!this.#transfers.has(holder)) this.#transfers.set(holder, performance.now());
  }

  endTransfer(holder: ByteHolder): void {
    this.#transfers.delete(holder);
  }

  release(holder: ByteHolder): void {
    this.#transfers.delete(holder);
    this.#count(holder, -holder.heldBytes);
  }

  #count(holder: ByteHolder, bytes: number): void {
    holder.heldBytes += bytes;
    this.#bytes += bytes;
    if (holder.isPage) this.#pageBytes += bytes;
  }

  #isOver(bytes: number): boolean {
    return this.#bytes + bytes > this.#limits.maxWaitingBytes;
  }

  #isSlow(holder: ByteHolder): boolean {
    const sinceMs = this.#transfers.get(holder) ?? Number.POSITIVE_INFINITY;
    return performance.now() - sinceMs >= this.#limits.requestTimeoutMs / 12;
  }

  #makeRoom(
    isOver: () => boolean,
    error: RequestError,
    mayEvict: (holder: ByteHolder) => boolean,
  ): void {
    for (const holder of this.#transfers.keys()) {
      if (!isOver()) return;
      if (holder.heldBytes === 0 || !mayEvict(holder)) continue;
      this.release(holder);
      holder.evict(error);
    }
  }
}

function overloaded(reason: string): RequestError {
  return new RequestError("overloaded", `${reason}: try again`);
}
