/** The turns of requests for pages of plants. A page takes megabytes and milliseconds: those of 600 clients took 1.3 GB. */
// Not the global function, which tests may replace with a fake.
import { setImmediate } from "node:timers";
import { RequestError } from "../core/errors.ts";
import type { Admission } from "./admission.ts";
import type { ServerRequest } from "./request.ts";
import { type ServerResponse, serverStopping } from "./response.ts";

/** Maximum number of pages that are read at a time. Others need the connections of the store too. */
const maxReading = 2;
/** Maximum number of requests that wait. */
const maxWaiting = 32;

/** A request that waits. */
interface Waiting {
  readonly request: ServerRequest;
  /** Ends its wait: it is its turn, or it gets this error. */
  readonly settle: (error?: RequestError) => void;
}

/** Lets few pages be read at a time, and one begin in each turn of the event loop. */
export class PageQueue {
  readonly #admission: Admission;
  /** Longest wait first. */
  readonly #waiting: Waiting[] = [];
  #reading = 0;
  /** True if a page began in this turn of the event loop. */
  #hasBegun = false;
  #isStopped = false;

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /** Reads a page when it is its turn. @returns its response, or the error of a page that may not be read, or not wait */
  async read(
    request: ServerRequest,
    work: () => Promise<ServerResponse | RequestError>,
  ): Promise<ServerResponse | RequestError> {
    if (this.#isStopped) return serverStopping;
    if (this.#waiting.length === maxWaiting) return tooManyWaiting;
    const error = this.#admission.checkPages() ?? (await this.#wait(request));
    if (error !== undefined) return error;
    try {
      return this.#admission.holdPage(request) ?? (await work());
    } finally {
      this.#reading--;
      this.#next();
    }
  }

  /** From now on no page begins. Those that wait get an error. */
  stop(): void {
    this.#isStopped = true;
    for (const { settle } of this.#waiting.splice(0)) settle(serverStopping);
  }

  #wait(request: ServerRequest): Promise<RequestError | undefined> {
    return new Promise((settle) => {
      this.#waiting.push({ request, settle });
      this.#next();
    });
  }

  #next(): void {
    while (this.#reading < maxReading && !this.#hasBegun) {
      // Clients that have closed their side come last: they have probably left.
      const index = this.#waiting.findIndex(({ request }) => !request.client.signal.aborted);
      const [next] = this.#waiting.splice(Math.max(0, index), 1);
      if (next === undefined) return;
      if (next.request.client.givenUp === undefined) this.#begin();
      next.settle(next.request.client.givenUp);
    }
  }

  #begin(): void {
    this.#reading++;
    this.#hasBegun = true;
    setImmediate(() => {
      this.#hasBegun = false;
      this.#next();
    });
  }
}

const tooManyWaiting = new RequestError(
  "overloaded",
  `${maxWaiting} pages wait to be read: try again`,
);
