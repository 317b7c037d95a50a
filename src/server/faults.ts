/** Faults on demand, for tests of clients: changes that are slow, fail or lose their response. A 200 stays true. */
import { createHash } from "node:crypto";
import { toCredentialError } from "../auth/token.ts";
import { onAbort } from "../core/attempt.ts";
import { RequestError } from "../core/errors.ts";
import type { ServerResponse } from "./response.ts";

/** Which faults creates and deletes have, and how often. A share is a number from 0 to 1. */
export interface FaultRates {
  /** Delay of each response, in milliseconds, or the shortest and the longest delay. */
  readonly latencyMs: number | readonly [minMs: number, maxMs: number];
  /** Share of changes that get 50301 before the store is used. */
  readonly failRate: number;
  /** Share of changes that were stored whose connection is closed instead of a response. */
  readonly dropRate: number;
  /** Share of changes that get a page of HTML before the store is used, as from a proxy. */
  readonly statusRate: number;
  /** Share of changes that get 40102 before the store is used, although the token is valid. */
  readonly tokenRate: number;
  /** Share of changes whose response ends in the middle. */
  readonly cutRate: number;
  /** Share of changes without a response until the client closes its connection. */
  readonly silentRate: number;
  /** Status of the page: 400 … 599. */
  readonly pageStatus: number;
  /** Selects the sequence of faults. */
  readonly seed: number;
  /** Faults of the first changes, one for each, before the shares apply. */
  readonly first: readonly (Fault | "pass")[];
}

/** The faults, each with its share and its kind. The order decides if several apply. */
const faults = [
  ["fail", "failRate", "failed"],
  ["drop", "dropRate", "dropped"],
  ["status", "statusRate", "status"],
  ["token", "tokenRate", "token"],
  ["cut", "cutRate", "cut"],
  ["silent", "silentRate", "silent"],
] as const;

type Fault = (typeof faults)[number][0];

/** Kinds of faults, as metrics count them. */
export type FaultKind = "delayed" | (typeof faults)[number][2];

/** The faults of one server. The fault of the nth change depends on nothing but n and the seed. */
export class Faults {
  readonly #options: FaultRates;
  readonly #onFault: ((kind: FaultKind) => void) | undefined;
  /** Ends each wait in progress. */
  readonly #waits = new Set<() => void>();
  #isStopped = false;
  #count = 0;
  #readCount = 0;

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
   * Performs a create or a delete, unless it fails on demand.
   *
   * @param change stores the plant, or deletes it
   * @param signal ends each wait: the client may have left
   * @returns its result, a failure, or a response that the client does not get
   */
  async perform(
    change: () => Promise<ServerResponse | RequestError>,
    signal: AbortSignal,
  ): Promise<ServerResponse | RequestError> {
    const [latencyShare = 0, ...shares] = this.#drawShares(`${this.#count}`);
    const planned = this.#options.first[this.#count++];
    const [fault, , kind] =
      planned === undefined
        ? (faults.find(([, rate], index) => (shares[index] ?? 1) < this.#options[rate]) ?? [])
        : (faults.find(([name]) => name === planned) ?? []);
    const failure = this.#createFailure(fault);
    if (kind !== undefined && failure !== undefined) this.#onFault?.(kind);
    const result = failure ?? (await change());
    await this.#delay(latencyShare, signal);
    if (kind === undefined || failure !== undefined || result instanceof RequestError) {
      return result;
    }
    this.#onFault?.(kind);
    if (fault === "silent") await this.#wait(signal);
    return { ...result, lost: fault === "cut" ? "half" : "all" };
  }

  /** Performs a read, which has no other fault than the latency. */
  async delay(
    read: () => Promise<ServerResponse | RequestError>,
    signal: AbortSignal,
  ): Promise<ServerResponse | RequestError> {
    const [latencyShare = 0] = this.#drawShares(`read ${this.#readCount++}`);
    const result = await read();
    await this.#delay(latencyShare, signal);
    return result;
  }

  /** Begins the sequence again. */
  restart(): void {
    this.#count = 0;
    this.#readCount = 0;
  }

  /** Ends all waits, now and later. */
  stop(): void {
    this.#isStopped = true;
    for (const end of this.#waits) end();
  }

  /** @returns undefined for a fault of the response to a plant that is stored */
  #createFailure(fault: Fault | undefined): ServerResponse | RequestError | undefined {
    if (fault === "fail") return injectedFailure;
    if (fault === "token") return injectedRejection;
    return fault === "status" ? toProxyPage(this.#options.pageStatus) : undefined;
  }

  async #delay(share: number, signal: AbortSignal): Promise<void> {
    const { latencyMs } = this.#options;
    const [minMs, maxMs] = typeof latencyMs === "number" ? [latencyMs, latencyMs] : latencyMs;
    const delayMs = Math.round(minMs + share * (maxMs - minMs));
    if (delayMs === 0 || this.#isStopped) return;
    this.#onFault?.("delayed");
    await this.#wait(signal, delayMs);
  }

  /** Waits until the signal is aborted, the faults are stopped, or the time is over. */
  #wait(signal: AbortSignal, timeMs?: number): Promise<void> {
    if (this.#isStopped || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        release();
        this.#waits.delete(end);
        resolve();
      };
      const timer = timeMs === undefined ? undefined : setTimeout(end, timeMs);
      const release = onAbort(signal, end);
      this.#waits.add(end);
    });
  }

  /** Draws numbers from 0 (included) to 1 (excluded) for a request: for its delay, and for each fault. */
  #drawShares(request: string): readonly number[] {
    const digest = createHash("sha256").update(`${this.#options.seed} ${request}`).digest();
    return ["delay", ...faults].map((_, index) => digest.readUInt32BE(4 * index) / 2 ** 32);
  }
}

/** Error for a create whose valid token is rejected on demand. */
const injectedRejection = toCredentialError(
  "unknownToken",
  "a fault for tests of clients: the token counts as unknown for this request",
  "invalid_token",
);

/** A test need not wait. */
const noWait = [["Retry-After", "0"]] as const;

/** Error for a create that fails on demand. */
const injectedFailure = new RequestError("overloaded", "a fault for tests of clients: try again", {
  headers: noWait,
});

/** A page as a proxy sends it. */
function toProxyPage(status: number): ServerResponse {
  const title = `${status}: a fault for tests of clients`;
  return {
    status,
    body: `<!doctype html>\n<title>${title}</title>\n<h1>${title}</h1>\n`,
    contentType: "text/html; charset=utf-8",
    headers: noWait,
  };
}

/** The part of {@link Faults} that a server uses. */
export type ServerFaults = Pick<Faults, "perform" | "delay" | "stop" | "maxDelayMs">;
