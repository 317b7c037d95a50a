/** Divides an input into records. */
import { type ErrorKind, RequestError } from "../core/errors.ts";
import { isBlank, lineFeed } from "../core/json.ts";
import type { PlantReading } from "../core/read-plant.ts";
import { toInputName } from "../core/messages.ts";
import { findForeignFormat, signatureLength } from "./foreign-formats.ts";

type Records = Generator<PlantRecord, void, undefined>;

const byteOrderMark = Buffer.from("\uFEFF");
const nothing = Buffer.alloc(0);

export interface RecordFormat {
  /** True for an array or a table, which may hold any number of plants. */
  readonly isCollection: boolean;
  /** Header row of a table, as it is in the input. */
  readonly header?: Uint8Array | undefined;
  /**
   * Takes the next record. @returns undefined if the input has no further one, or not all of its bytes yet
   * @throws InputSyntaxError when no further record can be found
   */
  next(input: InputBytes): PlantRecord | undefined;
}

export interface InputSource {
  /** `-` is standard input. */
  readonly path: string;
  /** Largest record that is kept. */
  readonly maxBytes: number;
  /** The columns that a table must have. Default: the required members of a plant. */
  readonly requiredColumns?: readonly string[];
}

/** Reads the records of an input. The iterables are lazy: read one to its end before you push the next piece. */
export class RecordReader {
  readonly #source: InputSource;
  readonly #format: RecordFormat;
  readonly #input: InputBytes;
  #isStarted = false;

  constructor(source: InputSource, format: RecordFormat) {
    this.#source = source;
    this.#format = format;
    this.#input = new InputBytes(source.maxBytes);
  }

  /** Line of the first byte that belongs to no record yet, counted from 1. */
  get line(): number {
    return this.#input.line;
  }

  /** Number of bytes of the input up to the end of the last record. */
  get bytesRead(): number {
    return this.#input.bytesRead;
  }

  get isCollection(): boolean {
    return this.#format.isCollection;
  }

  get header(): Uint8Array | undefined {
    return this.#format.header;
  }

  /**
   * Reads a whole input.
   *
   * @returns the records that each chunk completes, then those that the end completes
   * @throws the error of `chunks`
   */
  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Records, void, undefined> {
    for await (const bytes of chunks) yield this.push(bytes);
    yield this.end();
  }

  /** Returns the records that these bytes complete. @throws InputSyntaxError */
  *push(bytes: Uint8Array): Records {
    this.#input.append(bytes);
    if (this.#isStarted || this.#input.bytes.length >= signatureLength) yield* this.#take();
  }

  /** Returns the records that the end of the input completes. @throws InputSyntaxError */
  *end(): Records {
    this.#input.isEnded = true;
    yield* this.#take();
  }

  *#take(): Records {
    if (!this.#isStarted) this.#start();
    for (;;) {
      const record = this.#format.next(this.#input);
      if (record === undefined) return;
      yield record;
    }
  }

  #start(): void {
    this.#isStarted = true;
    const { bytes } = this.#input;
    const { path } = this.#source;
    const format = findForeignFormat(bytes, path);
    if (format !== undefined) {
      const { name, conversion } = format;
      const advice = conversion === undefined ? "save it as CSV UTF-8" : "convert it to plain text";
      throw new InputSyntaxError(`${toInputName(path)} is ${name}: ${advice}`, { conversion });
    }
    const { length } = byteOrderMark;
    if (byteOrderMark.equals(bytes.subarray(0, length))) this.#input.skipMark(length);
  }
}

/** The bytes of an input that belong to no record yet. */
export class InputBytes {
  bytes: Uint8Array = nothing;
  /** Index of the first byte that belongs to no record yet. */
  start = 0;
  /** Index of the next byte to scan. */
  at = 0;
  /** Line of the byte at `start`, and its character in this line, both counted from 1. */
  line = 1;
  column = 1;
  /** True once no bytes follow. */
  isEnded = false;
  /** True inside a line over the limit, whose bytes are dropped. */
  isInLargeLine = false;
  /** Number of bytes of the input up to the end of the last record. */
  bytesRead = 0;
  readonly maxBytes: number;
  /** Number of bytes of the input before `bytes`. */
  #offset = 0;
  /** Unused memory directly after `bytes`. */
  #free: Uint8Array = nothing;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Drops the bytes before `start`. The bytes of earlier records do not change. */
  append(bytes: Uint8Array): void {
    const kept = this.bytes.subarray(this.start);
    this.#offset += this.start;
    this.at -= this.start;
    this.start = 0;
    const length = kept.length + bytes.length;
    let all = kept;
    if (this.#free.length < bytes.length) {
      // Twice as much, so that the pieces of a large record are copied only a few times.
      all = Buffer.allocUnsafeSlow(2 * length);
      all.set(kept);
      this.#free = all.subarray(kept.length);
    }
    this.#free.set(bytes);
    this.#free = this.#free.subarray(bytes.length);
    this.bytes = new Uint8Array(all.buffer, all.byteOffset, length);
  }

  /** Skips a byte order mark, which is no character of the first line. */
  skipMark(length: number): void {
    this.start = length;
    this.at = length;
  }

  /** Skips bytes, and counts their lines and characters. */
  skip(end: number): void {
    for (let at = this.start; at < end; at++) {
      const byte = this.bytes[at] ?? 0;
      if (byte === lineFeed) {
        this.line++;
        this.column = 1;
        // All but the first byte of a character begin with the bits 10.
      } else if ((byte & 0xc0) !== 0x80) this.column++;
    }
    this.start = end;
    this.at = Math.max(this.at, end);
  }

  /** Skips blanks. @returns the first other byte; undefined if more bytes are needed */
  skipBlanks(): number | undefined {
    let end = this.start;
    while (end < this.bytes.length && isBlank(this.bytes[end] ?? 0)) end++;
    this.skip(end);
    return this.bytes[end];
  }

  /** Takes a record that ends before `end`. @returns its bytes */
  take(end: number): Uint8Array {
    const bytes = this.bytes.subarray(this.start, end);
    this.bytesRead = this.#offset + end;
    return bytes;
  }

  /** Finds the end of the line from the next byte on, or of the input. @returns undefined if more bytes are needed */
  findLineEnd(): number | undefined {
    const end = this.bytes.indexOf(lineFeed, this.at);
    if (end !== -1) return end;
    this.at = this.bytes.length;
    return this.isEnded && this.hasBytes ? this.at : undefined;
  }

  get hasBytes(): boolean {
    return this.start < this.bytes.length || this.isInLargeLine;
  }

  /** Takes a line. @returns its bytes, none if it is over the limit; undefined if more bytes are needed */
  takeLine(): { readonly bytes: Uint8Array; readonly isTooLarge: boolean } | undefined {
    const end = this.findLineEnd();
    this.isInLargeLine ||= this.isOverLimit(end);
    if (end === undefined) {
      if (this.isInLargeLine) this.start = this.at;
      return undefined;
    }
    const isTooLarge = this.isInLargeLine;
    this.isInLargeLine = false;
    const bytes = this.take(end);
    this.skipLines(end);
    return { bytes: isTooLarge ? nothing : bytes, isTooLarge };
  }

  /** Begins the line after `end`. @param count number of lines up to there */
  skipLines(end: number, count = 1): void {
    this.start = Math.min(end + 1, this.bytes.length);
    this.at = this.start;
    this.line += count;
  }

  isOverLimit(end = this.at): boolean {
    return end - this.start > this.maxBytes;
  }
}

export function toRejected(kind: ErrorKind, message: string): RecordContent {
  return { plant: new RequestError(kind, message), unknownMembers: [] };
}

export function toTooLarge({ maxBytes }: InputBytes): RecordContent {
  const message = `the plant has more than ${maxBytes} bytes, which is the limit for one record: shorten it, or close its strings and brackets`;
  return toRejected("bodyTooLarge", message);
}

/** The content of a record: a plant, or what is there instead of one. */
export interface RecordContent extends PlantReading {
  /** True if the text breaks the syntax of the format, so that the end of the record is uncertain. */
  readonly isMalformed?: true;
}

export interface PlantRecord {
  /** Line on which the record begins, counted from 1. */
  readonly line: number;
  /** The record as it is in the input, without separators; empty if it has more bytes than the limit. */
  readonly bytes: Uint8Array;
  readonly content: RecordContent;
}

type InputSyntaxErrorParts = Pick<InputSyntaxError, "record" | "conversion">;

/** Input in which no further record can be found. */
export class InputSyntaxError extends Error {
  override readonly name = "InputSyntaxError";
  /** The malformed record, if its syntax is the problem. */
  readonly record: PlantRecord | undefined;
  /** A shell command that writes the input as text, if it is in another format. */
  readonly conversion: string | undefined;

  constructor(message: string, { record, conversion }: Partial<InputSyntaxErrorParts> = {}) {
    super(message);
    this.record = record;
    this.conversion = conversion;
  }
}
