/** JSON text sequences: each record between a record separator and a line feed (RFC 7464). */
import { createJsonRecord, type Framing, type InputRecord } from "./input-record.ts";
import { isBlank, isOfByteOrderMark, lineFeed, recordSeparator, trimEnd } from "./json-bytes.ts";
import { RecordBytes } from "./record-bytes.ts";
import { ValueScanner } from "./value-scanner.ts";

/**
 * A record is complete with the line feed after its last bracket. A broken one goes on to the next separator (RFC 7464
 * section 2.1), so that it costs no other.
 */
export class SequenceFraming implements Framing {
  readonly isCollection = true;
  readonly #bytes: RecordBytes;
  #scanner = new ValueScanner();
  #currentLine: number;
  #recordLine: number | undefined;
  /** Whether the record's last bracket has come, and nothing but blanks since. */
  #isClosed = false;

  /** @param line that of the first byte */
  constructor(maxRecordBytes: number, line: number) {
    this.#bytes = new RecordBytes(maxRecordBytes);
    this.#currentLine = line;
  }

  get line(): number {
    return this.#recordLine ?? this.#currentLine;
  }

  *push(bytes: Uint8Array): Iterable<InputRecord> {
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      const line = this.#currentLine;
      if (byte === lineFeed) this.#currentLine++;
      if (byte === recordSeparator || (byte === lineFeed && this.#isClosed)) {
        if (this.#recordLine !== undefined) this.#bytes.add(bytes.subarray(start, at));
        yield* this.#endRecord();
      } else if (this.#recordLine !== undefined) {
        this.#watchForEnd(byte);
      } else if (!isBlank(byte) && !isOfByteOrderMark(byte)) {
        start = at;
        this.#recordLine = line;
        this.#scanner = new ValueScanner();
        this.#watchForEnd(byte);
      }
    }
    if (this.#recordLine !== undefined) this.#bytes.add(bytes.subarray(start));
  }

  *end(): Iterable<InputRecord> {
    // A last line without a line feed is one as well.
    if (this.#recordLine !== undefined) this.#currentLine++;
    yield* this.#endRecord();
  }

  *#endRecord(): Iterable<InputRecord> {
    if (this.#recordLine === undefined) return;
    const record = this.#bytes.take(this.#recordLine, (line, bytes) =>
      createJsonRecord(line, trimEnd(bytes)),
    );
    this.#recordLine = undefined;
    this.#isClosed = false;
    yield record;
  }

  #watchForEnd(byte: number): void {
    const role = this.#scanner.scan(byte);
    if (role === "last") this.#isClosed = true;
    else if (role !== "between") this.#isClosed = false;
  }
}
