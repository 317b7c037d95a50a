/** Faults on demand, for tests of clients: creates that are slow, fail or lose their response. A 200 stays true. */
import { createHash } from "node:crypto";
import { RequestError } from "../core/errors.ts";
import { type ServerResponse, injectedFailure } from "./response.ts";

/** Which faults creates have, and how often. */
export interface FaultRates {
  /** Delay of each response, in milliseconds, or the shortest and the longest delay. */
  readonly latencyMs: number | readonly [minMs: number, maxMs: number];
  /** Share of creates that fail before the store is used: 0 … 1. */
  readonly failRate: number;
  /** Share of stored plants whose connection is closed instead of a response: 0 … 1. */
  readonly dropRate: number;
  /** Selects the sequence of faults. */
  readonly seed: number;
  /** Faults of the first creates, one for each, before the rates apply. */
  readonly first: readonly ("fail" | "drop" | "pass")[];
}

/** Kinds of faults, as metrics count them. */
export type FaultKind = "delayed" | "failed" | "dropped";

/** The faults of one server. The fault of the nth create depends on nothing but n and the seed. */
export class Faults {
  readonly #options: FaultRates;
  readonly #onFault: ((kind: FaultKind) => void) | undefined;
  /** Ends each delay in progress. */
  readonly #delays = new Set<() => void>();
  #isStopped = false;
  #count = 0;

  /** @param onFault receives each fault when it happens; must not throw */
  constructor(options: FaultRates, onFault?: (kind: FaultKind) => void) {
    this.#options = options;
    this.#onFault = onFault;
  }

  /** The longest delay of a response. */
  get maxDelayMs(): number {
    return Math.max(...[this.#options.latencyMs].flat());
  }

  /**
   * Performs a create, unless it fails on demand.
   *
   * @param create stores the plant
   * @returns its result, a RequestError `overloaded`, or a response that must be dropped
   */
  async perform(
    create: () => Promise<ServerResponse | RequestError>,
  ): Promise<ServerResponse | RequestError> {
    const { failRate, dropRate, first } = this.#options;
    const planned = first[this.#count];
    const [forLatency, forFailure, forDrop] = this.#drawShares();
    const isFailed = planned === undefined ? forFailure < failRate : planned === "fail";
    const isDropped = planned === undefined ? forDrop < dropRate : planned === "drop";
    if (isFailed) this.#onFault?.("failed");
    const result = isFailed ? injectedFailure : await create();
    await this.#delay(forLatency);
    if (result instanceof RequestError || !isDropped) return result;
    this.#onFault?.("dropped");
    return { ...result, isDropped: true };
  }

  /** Begins the sequence again. */
  restart(): void {
    this.#count = 0;
  }

  /** Ends all delays, now and later. */
  stop(): void {
    this.#isStopped = true;
    for (const end of this.#delays) end();
  }

  async #delay(share: number): Promise<void> {
    const { latencyMs } = this.#options;
    const [minMs, maxMs] = typeof latencyMs === "number" ? [latencyMs, latencyMs] : latencyMs;
    const delayMs = Math.round(minMs + share * (maxMs - minMs));
    if (delayMs === 0 || this.#isStopped) return;
    this.#onFault?.("delayed");
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#delays.delete(end);
        resolve();
      };
      const timer = setTimeout(end, delayMs);
      this.#delays.add(end);
    });
  }

  /** Draws three numbers from 0 (included) to 1 (excluded) for the next create. */
  #drawShares(): readonly [number, number, number] {
    const digest = createHash("sha256")
      .update(`${this.#options.seed} ${this.#count++}`)
      .digest();
    const toShare = (offset: number): number => digest.readUInt32BE(offset) / 2 ** 32;
    return [toShare(0), toShare(4), toShare(8)];
  }
}

/** The part of {@link Faults} that a server uses. */
export type ServerFaults = Pick<Faults, "perform" | "stop" | "maxDelayMs">;
