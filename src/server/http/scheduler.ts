/** Which connections are served in a turn of the event loop: responses come before requests. */
// Not the global function, which tests may replace with a fake.
import { setImmediate } from "node:timers";

/** A connection, as far as it is scheduled. */
interface Scheduled {
  /** Sends the responses that are known. */
  sendResponses(): void;
  /** Reads further requests that have arrived. */
  readRequests(): void;
}

/** Maximum time for connections in one turn of the event loop. */
const maxTurnMs = 2;

/**
 * Responses are written in a row: a write has to wake up the client, unless one before it has. Node accepts one connection in a
 * turn of the event loop, so that long turns keep new clients waiting: a probe waited 46 s behind 250 clients that had sent many
 * requests at once.
 */
export class Scheduler {
  readonly #senders = new Set<Scheduled>();
  readonly #readers = new Set<Scheduled>();
  #isScheduled = false;

  addSender(connection: Scheduled): void {
    this.#senders.add(connection);
    this.#schedule();
  }

  addReader(connection: Scheduled): void {
    this.#readers.add(connection);
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#isScheduled) setImmediate(this.#run);
    this.#isScheduled = true;
  }

  readonly #run = (): void => {
    this.#isScheduled = false;
    const endMs = performance.now() + maxTurnMs;
    for (const connection of this.#senders) {
      this.#senders.delete(connection);
      connection.sendResponses();
      if (performance.now() > endMs) break;
    }
    // At least one in each turn.
    for (const connection of this.#readers) {
      this.#readers.delete(connection);
      connection.readRequests();
      if (performance.now() > endMs) break;
    }
    if (this.#senders.size + this.#readers.size > 0) this.#schedule();
  };
}
