/** Records of JSON, each on a line of its own, as in NDJSON and JSON Lines. Blank lines are passed over. */
import { createJsonRecord, type Framing, type InputRecord } from "./input-record.ts";
import { isBlank, lineFeed } from "./json-bytes.ts";
import { RecordBytes } from "./record-bytes.ts";

/** A line is a record, whatever stands in it: a broken one costs no other. */
export class LineFraming implements Framing {
  readonly isCollection = false;
  line: number;
  readonly #bytes: RecordBytes;

  /** @param line that of the first byte */
  constructor(maxRecordBytes: number, line: number) {
    this.#bytes = new RecordBytes(maxRecordBytes);
    this.line = line;
  }

  *push(bytes: Uint8Array): Iterable<InputRecord> {
    let start = 0;
    for (let end; (end = bytes.indexOf(lineFeed, start)) !== -1; start = end + 1) {
      this.#bytes.add(bytes.subarray(start, end));
      const record = this.#take();
      this.line++;
      if (record !== undefined) yield record;
    }
    this.#bytes.add(bytes.subarray(start));
  }

  *end(): Iterable<InputRecord> {
    const record = this.#take();
    if (record === undefined) return;
    this.line++;
    yield record;
  }

  #take(): InputRecord | undefined {
    if (this.#bytes.length === 0) return undefined;
    const record = this.#bytes.take(this.line, createJsonRecord);
    const isOnlyBlank = record.bytes.length > 0 && record.bytes.every(isBlank);
    return isOnlyBlank ? undefined : record;
  }
}
