/** Collects the bytes of one record out of the pieces in which they come, up to a limit. */
import { RequestError } from "../../core/errors.ts";
import { createRefusedRecord, type InputRecord } from "./input-record.ts";

/** The bytes of the record that is being read. */
export class RecordBytes {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #length = 0;

  /** @param maxBytes the most that a record may have */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** How many there are, those beyond the limit counted. */
  get length(): number {
    return this.#length;
  }

  /** Adds bytes; beyond the limit none are kept. */
  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) this.#pieces = [];
    else if (bytes.length > 0) this.#pieces.push(bytes);
  }

  /**
   * Ends the record and starts the next one.
   *
   * @param line where it began
   * @param create makes a record of its bytes; one that is too large is refused instead
   */
  take(line: number, create: (line: number, bytes: Uint8Array) => InputRecord): InputRecord {
    const pieces = this.#pieces;
    const isTooLarge = this.#length > this.#maxBytes;
    this.#pieces = [];
    this.#length = 0;
    const [only = new Uint8Array()] = pieces;
    if (!isTooLarge) return create(line, pieces.length > 1 ? Buffer.concat(pieces) : only);
    const message = `the body has more than ${this.#maxBytes} bytes, the most that a plant may have`;
    const refusal = new RequestError("bodyTooLarge", message);
    return { ...createRefusedRecord(line, only, refusal), isTooLong: true };
  }
}
