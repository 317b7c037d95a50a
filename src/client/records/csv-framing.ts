/** Records of a table: a header row that names the columns, and a row for each record (RFC 4180). */
import { type Delimiter, parseHeader, parseRow } from "./csv-row.ts";
import type { Columns, Framing, Header, InputRecord } from "./input-record.ts";
import { isBlank, isOfByteOrderMark, lineFeed, quotationMark } from "./json-bytes.ts";
import { RecordBytes } from "./record-bytes.ts";

/** A row is complete with the line feed that stands in no quotes. Blank rows are passed over. */
export class CsvFraming implements Framing {
  readonly isCollection = true;
  header: Header | undefined;
  line = 1;
  readonly #delimiter: Delimiter;
  readonly #bytes: RecordBytes;
  /** That of the byte to come. */
  #currentLine = 1;
  #isCellStart = true;
  #isCellQuoted = false;
  #isQuoteOpen = false;

  constructor(delimiter: Delimiter, maxRecordBytes: number) {
    this.#delimiter = delimiter;
    this.#bytes = new RecordBytes(maxRecordBytes);
  }

  *push(bytes: Uint8Array): Iterable<InputRecord> {
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (!this.#endsRow(bytes[at] ?? 0)) continue;
      this.#bytes.add(bytes.subarray(start, at));
      start = at + 1;
      yield* this.#endRow();
    }
    this.#bytes.add(bytes.subarray(start));
  }

  *end(): Iterable<InputRecord> {
    // A last line without a line feed is one as well.
    if (this.#bytes.length > 0) this.#currentLine++;
    yield* this.#endRow();
  }

  *#endRow(): Iterable<InputRecord> {
    const isEmpty = this.#bytes.length === 0;
    const row = this.#bytes.take(this.line, (line, bytes) => this.#toRecord(line, bytes));
    this.line = this.#currentLine;
    const isOnlyBlank = row.bytes.length > 0 && row.bytes.every(isBlank);
    if (isEmpty || isOnlyBlank) return;
    if (this.header === undefined) {
      const { bytes } = row;
      this.header = { bytes, columns: parseHeader(bytes, this.#delimiter) };
    } else {
      yield row;
    }
  }

  #endsRow(byte: number): boolean {
    if (byte === lineFeed) this.#currentLine++;
    if (this.header === undefined && isOfByteOrderMark(byte)) return false;
    if (byte === quotationMark) {
      this.#isCellQuoted ||= this.#isCellStart;
      // A doubled one closes and opens; in a cell that began without quotes it is a mistake of that row alone.
      if (this.#isCellQuoted) this.#isQuoteOpen = !this.#isQuoteOpen;
    }
    const endsRow = byte === lineFeed && !this.#isQuoteOpen;
    const endsCell = byte === this.#delimiter.charCodeAt(0) && !this.#isQuoteOpen;
    this.#isCellStart = endsRow || endsCell;
    if (this.#isCellStart) this.#isCellQuoted = false;
    return endsRow;
  }

  #toRecord(line: number, bytes: Uint8Array): InputRecord {
    const columns: Columns = this.header?.columns ?? [];
    return { line, bytes, parse: () => parseRow(bytes, columns, this.#delimiter) };
  }
}
