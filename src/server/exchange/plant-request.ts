/** A request of node:http that may be kept from it until it is whole, and from then on until its answer. */
import { IncomingMessage } from "node:http";
import { readHead, type RequestHead } from "./headers.ts";

/** A request; nothing is different about one that was never held. */
export class PlantRequest extends IncomingMessage {
  /** The body of a request that was whole while it was held. */
  wholeBody: Buffer | undefined;
  #head: RequestHead | undefined;
  #announce: ((request: this) => void) | undefined;
  #onWhole: ((request: this) => void) | undefined;
  #chunks: Buffer[] = [];

  /** What the head says. */
  get head(): RequestHead {
    return (this.#head ??= readHead(this));
  }

  /**
   * Keeps it from node:http.
   *
   * @param announce makes up for it
   * @param onWhole called once all of it is there
   */
  hold(announce: (request: this) => void, onWhole: (request: this) => void): void {
    this.#announce = announce;
    this.#onWhole = onWhole;
  }

  /** Lets node:http have it, if it was held. */
  release(): void {
    const announce = this.#announce;
    if (announce === undefined) return;
    this.#announce = undefined;
    announce(this);
    for (const chunk of this.#chunks) this.push(chunk);
    if (this.complete) this.push(null);
  }

  /** Called by node:http with each piece of the body, and with null behind the last. */
  override push(chunk: Buffer | null): boolean {
    if (this.#announce === undefined) return super.push(chunk);
    if (chunk !== null) {
      this.#chunks.push(chunk);
      return true;
    }
    const [only] = this.#chunks;
    const isOne = this.#chunks.length === 1 && only !== undefined;
    this.wholeBody = isOne ? only : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#onWhole?.(this);
    return true;
  }
}
