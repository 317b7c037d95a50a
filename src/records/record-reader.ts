/** Divides an input into records. */
import { RequestError } from "../core/errors.ts";
import { comma, isBlank, JsonError, leftBrace, leftBracket, lineFeed } from "../core/json.ts";
import type { PlantReading } from "../core/read-plant.ts";
import { findOtherFormat, signatureLength } from "./other-formats.ts";

/**
 * Meaning of a byte:
 * - `separates`: it belongs to no record; blanks before it are dropped
 * - `continues`, `completes`: it belongs to the record, and may be its last byte
 * - `endsBefore`: the record ended before it; unless it is a line feed, it is scanned again
 * - `breaks`: the record is malformed
 */
export type Step = "separates" | "continues" | "completes" | "endsBefore" | "breaks";

type Records = Generator<PlantRecord, void, undefined>;

const byteOrderMark = [0xef, 0xbb, 0xbf];
const nothing = new Uint8Array();

/**
 * Finds the records of an input. The iterables are lazy. The caller reads one to its end before it pushes the next piece.
 *
 * A malformed record ends before the next line that begins a record. If the input has one record per line, that is any
 * line. Otherwise the line begins with `{` and is indented no deeper than the malformed record.
 */
export abstract class RecordReader {
  /** Line of the first byte that belongs to no record yet, counted from 1. */
  line = 1;
  /** Number of bytes of the input up to the end of the last record. */
  bytesRead = 0;
  /** True if the input is an array or a table, which may hold any number of plants. */
  isCollection = false;
  /** Header row of a table, as it is in the input. */
  header: Uint8Array | undefined;
  /** True if the input has one record per line. */
  protected isByLine = false;
  /** Line of the next byte. */
  protected nextLine = 1;
  protected readonly path: string;
  readonly #maxBytes: number;
  /** Bytes of the input, from the current record or from an earlier byte on. */
  #bytes: Uint8Array = nothing;
  /** Unused memory directly after these bytes. */
  #free: Uint8Array = nothing;
  /** Number of bytes of the input before these bytes. */
  #offset = 0;
  /** Index of the first byte of the current record. */
  #start = 0;
  /** Index of the next byte. */
  #at = 0;
  /** The line at which the next record begins if the current one is malformed, and the index of its first byte. */
  #resume: { readonly line: number; readonly at: number } | undefined;
  /** True once the input is known to have no other format. */
  #isPlainText = false;
  #isBroken = false;
  /** True if the record is over the limit, so that its bytes are dropped. */
  #isTooLarge = false;
  /** True if the line has only blanks and separators of arrays so far. */
  #isIndentation = true;
  #indentation = 0;
  #recordIndentation = 0;
  /** Number of characters of the line before the next byte. */
  #column = 0;
  /** Number of characters of its first line before the current record. */
  #recordColumn = 0;

  /**
   * @param maxBytes largest record that is kept
   * @param path of the input, for advice; `-` is standard input
   */
  constructor(maxBytes: number, path = "-") {
    this.#maxBytes = maxBytes;
    this.path = path;
  }

  /** Checks whether a line is probably a record. It is then parsed without a scan, which takes a quarter of the time. */
  protected abstract isProbablyRecord(line: Uint8Array): boolean;
  /** Scans the next byte. @throws InputSyntaxError */
  protected abstract scan(byte: number): Step;
  /** Parses a record. @returns undefined for a header. @throws InputSyntaxError */
  protected abstract parse(bytes: Uint8Array): RecordContent | undefined;
  /** Prepares the scanner for the line after a malformed record. */
  protected abstract restart(): void;
  /** Checks that the input may end. @throws InputSyntaxError */
  protected abstract finish(): void;

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

  /** Returns the records that these bytes complete. @throws InputSyntaxError when no further record can be found */
  *push(bytes: Uint8Array): Records {
    let start = 0;
    if (this.#bytes.length === 0) {
      while (start < bytes.length && bytes[start] === byteOrderMark[this.#offset]) {
        start++;
        this.#offset++;
      }
    }
    this.#append(bytes.subarray(start));
    if (!this.#isPlainText && this.#bytes.length < signatureLength) return;
    yield* this.#read();
  }

  /** Returns the records that the end of the input completes. @throws InputSyntaxError when the input is incomplete */
  *end(): Records {
    do {
      yield* this.#read();
      yield* this.#take(this.#bytes.length);
    } while (this.#at < this.#bytes.length);
    this.finish();
  }

  /** Drops the bytes before the current record. The bytes of earlier records do not change. */
  #append(bytes: Uint8Array): void {
    const dropped = this.#isTooLarge ? this.#at : this.#start;
    const kept = this.#bytes.subarray(dropped);
    this.#offset += dropped;
    this.#at -= dropped;
    this.#start = 0;
    if (this.#resume) this.#resume = { ...this.#resume, at: this.#resume.at - dropped };
    const length = kept.length + bytes.length;
    let all = kept;
    if (this.#free.length < bytes.length) {
      // More than necessary, so that the pieces of a large record are copied only a few times.
      all = Buffer.allocUnsafeSlow(2 * length);
      all.set(kept);
      this.#free = all.subarray(kept.length);
    }
    this.#free.set(bytes);
    this.#free = this.#free.subarray(bytes.length);
    this.#bytes = new Uint8Array(all.buffer, all.byteOffset, length);
  }

  *#read(): Records {
    const otherFormat = this.#isPlainText ? undefined : findOtherFormat(this.#bytes, this.path);
    if (otherFormat !== undefined) throw new InputSyntaxError(otherFormat);
    this.#isPlainText = true;
    while (this.#at < this.#bytes.length) {
      const at = this.#at;
      if (this.isByLine && at === this.#start && !this.#isTooLarge) {
        const end = this.#bytes.indexOf(lineFeed, at);
        const line = this.#bytes.subarray(at, Math.max(end, at));
        const isProbable = this.isProbablyRecord(line);
        const record = isProbable ? this.#parse(line) : undefined;
        if (isProbable && !record?.content.isMalformed) {
          this.#at = end + 1;
          this.#beginLine(this.nextLine + 1);
          this.#begin(end);
          if (record !== undefined) yield record;
          continue;
        }
      }
      const byte = this.#bytes[at] ?? 0;
      if (this.#isIndentation) this.#scanIndentation(byte);
      const step = this.#isBroken ? "continues" : this.scan(byte);
      this.#at++;
      if (!isContinuation(byte)) this.#column++;
      if (byte === lineFeed) this.#beginLine(this.nextLine + 1);
      if (step === "separates") this.#begin();
      else if (step === "completes") yield* this.#take(this.#at);
      else if (step === "endsBefore") {
        const isInLine = byte !== lineFeed;
        if (isInLine) {
          this.#at = at;
          this.#column--;
        }
        yield* this.#take(at, isInLine);
      } else {
        if (byte === lineFeed && this.isByLine) this.#resumeAt(this.#at);
        if (step === "breaks") this.#isBroken = true;
        const isOver = this.#isOverLimit(this.#at - this.#start, byte);
        if (this.#resume === undefined) this.#isTooLarge ||= isOver;
        else if (this.#isBroken || this.#isTooLarge || isOver) yield* this.#cut(this.#resume);
      }
    }
  }

  #scanIndentation(byte: number): void {
    const isSeparator = byte === comma || byte === leftBracket;
    this.#isIndentation = isSeparator || (isBlank(byte) && byte !== lineFeed);
    if (this.#isIndentation) this.#indentation++;
    else if (this.nextLine === this.line) this.#recordIndentation = this.#indentation;
    else if (byte === leftBrace && this.#indentation <= this.#recordIndentation) {
      // The indentation of the line may be dropped together with a record over the limit.
      this.#resumeAt(Math.max(this.#at - this.#indentation, 0));
    }
  }

  #resumeAt(at: number): void {
    this.#resume ??= { line: this.nextLine, at };
  }

  #beginLine(line: number): void {
    this.nextLine = line;
    this.#isIndentation = true;
    this.#indentation = 0;
    this.#column = 0;
  }

  /** Ends the record, or cuts it if it is malformed. */
  *#take(end: number, isInLine = false): Records {
    const all = this.#bytes.subarray(this.#start, end);
    const record = this.#parse(isInLine ? trimEnd(all) : all);
    if (record?.content.isMalformed) {
      if (this.#resume !== undefined) return yield* this.#cut(this.#resume);
      // The rest of the line belongs to the malformed record.
      if (isInLine && this.isByLine && record.bytes.length > 0) {
        this.#isBroken = true;
        return;
      }
    }
    if (this.#isBroken) this.restart();
    this.#begin(end);
    if (record !== undefined) yield record;
  }

  /** Ends a malformed record before the line at which the reader resumes. */
  *#cut(resume: { readonly line: number; readonly at: number }): Records {
    const first = this.line;
    this.#at = resume.at;
    this.#beginLine(resume.line);
    this.#resume = undefined;
    this.#isBroken = true;
    // Without the line feed.
    for (const record of this.#take(resume.at - 1)) {
      const last = resume.line - 1;
      const { plant } = record.content;
      const isNamed = last > first && plant instanceof RequestError;
      const located = isNamed ? append(plant, ` (lines ${first} to ${last})`) : plant;
      yield { ...record, content: { ...record.content, plant: located } };
    }
  }

  #parse(bytes: Uint8Array): PlantRecord | undefined {
    const { line } = this;
    const column = this.#recordColumn + 1;
    if (this.#isTooLarge || this.#isOverLimit(bytes.length, bytes.at(-1))) {
      const message = `the plant has more than ${this.#maxBytes} bytes, which is the limit for one record: shorten it, or close its strings and brackets`;
      const plant = new RequestError("bodyTooLarge", message);
      const content = { plant, unknownMembers: [], isMalformed: true } as const;
      return { line, column, bytes: nothing, content };
    }
    const content = bytes.every(isBlank) ? undefined : this.parse(bytes);
    return content && { line, column, bytes, content };
  }

  /** @param last the last byte; a line feed does not count */
  #isOverLimit(length: number, last: number | undefined): boolean {
    return length - (last === lineFeed ? 1 : 0) > this.#maxBytes;
  }

  /** Begins a record with the next byte. */
  #begin(end = this.#at): void {
    this.bytesRead = this.#offset + end;
    this.line = this.nextLine;
    this.#start = this.#at;
    this.#recordIndentation = this.#indentation;
    this.#recordColumn = this.#column;
    this.#isBroken = false;
    this.#isTooLarge = false;
    this.#resume = undefined;
  }
}

/** Checks for a byte of UTF-8 inside a character. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Adds text to a message. */
function append(error: RequestError, text: string): RequestError {
  if (!(error instanceof JsonError)) return new RequestError(error.kind, error.message + text);
  const { kind, byte, parts, expected } = error;
  return new JsonError(kind, byte, [parts[0], parts[1] + text], expected);
}

function trimEnd(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.findLastIndex((byte) => !isBlank(byte)) + 1);
}

/** The content of a record: a plant, or what is there instead of one. */
export interface RecordContent extends PlantReading {
  /** True if the text breaks the syntax of the format, so that the end of the record is uncertain. */
  readonly isMalformed?: true;
  /** Column of a table with a text that other programs write for a missing value, such as `NULL`. */
  readonly nullColumn?: string;
}

/** One record of an input. */
export interface PlantRecord {
  /** Line on which the record begins, counted from 1. */
  readonly line: number;
  /** Character of that line at which the record begins, counted from 1. */
  readonly column: number;
  /** The record as it is in the input, without separators; empty if it has more bytes than the limit. */
  readonly bytes: Uint8Array;
  readonly content: RecordContent;
}

/** Input in which no further record can be found. The message follows the name of the input, as in `FILE is empty`. */
export class InputSyntaxError extends Error {
  override readonly name = "InputSyntaxError";
}
