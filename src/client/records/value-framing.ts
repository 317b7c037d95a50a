/** Records of JSON one after the other in any layout, and the elements of arrays. */
import { RequestError } from "../../core/errors.ts";
import {
  createJsonRecord,
  createRefusedRecord,
  type Framing,
  type InputRecord,
} from "./input-record.ts";
import { trimEnd } from "./json-bytes.ts";
import { RecordBytes } from "./record-bytes.ts";
import { ValueScanner } from "./value-scanner.ts";

const surplusComma = "a comma of the array is one too many: no element stands beside it";

/** A record is complete with its last bracket. {@link ValueScanner} says what a broken one costs. */
export class ValueFraming implements Framing {
  readonly #scanner: ValueScanner;
  readonly #bytes: RecordBytes;
  #recordLine: number;

  /** @param line that of the first byte */
  constructor(maxRecordBytes: number, line: number) {
    this.#bytes = new RecordBytes(maxRecordBytes);
    this.#scanner = new ValueScanner(line);
    this.#recordLine = line;
  }

  get line(): number {
    return this.#scanner.isInRecord ? this.#recordLine : this.#scanner.line;
  }

  get isCollection(): boolean {
    return this.#scanner.hasSeenArray;
  }

  *push(bytes: Uint8Array): Iterable<InputRecord> {
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      const role = this.#scanner.scan(bytes[at] ?? 0);
      let record: InputRecord | undefined;
      if (role === "last" || role === "past" || role === "next") {
        this.#bytes.add(bytes.subarray(start, role === "last" ? at + 1 : at));
        record = this.#take();
      }
      if (role === "first" || role === "next" || role === "commaMissing") {
        start = at;
        this.#recordLine = this.#scanner.line;
      }
      if (record !== undefined) yield record;
      if (role === "commaMissing") yield this.#refuse("a comma is missing before this element");
      if (role === "elementMissing") yield this.#refuse(surplusComma);
    }
    if (this.#scanner.isInRecord) this.#bytes.add(bytes.subarray(start));
  }

  *end(): Iterable<InputRecord> {
    if (this.#scanner.isInRecord) {
      yield this.#take();
    } else if (this.#scanner.isInArray) {
      yield this.#refuse("the array is not closed: the rest of the input may be missing");
    }
  }

  /** In the place of a record, of which there is nothing. */
  #refuse(complaint: string): InputRecord {
    const refusal = new RequestError("notJson", complaint);
    return createRefusedRecord(this.#scanner.line, new Uint8Array(), refusal);
  }

  #take(): InputRecord {
    return this.#bytes.take(this.#recordLine, (line, bytes) =>
      createJsonRecord(line, trimEnd(bytes)),
    );
  }
}
