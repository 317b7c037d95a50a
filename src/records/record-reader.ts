/** Divides an input that arrives in pieces into records. Subclasses know the format of the records. */
import { RequestError } from "../core/errors.ts";
import type { PlantReading } from "../core/plant.ts";
import { comma, isBlank, leftBrace, leftBracket, lineFeed } from "./characters.ts";
import type { ParsedRecord, PlantRecord } from "./record.ts";

/**
 * Meaning of a byte:
 * - `separates`: it belongs to no record; blanks before it are dropped
 * - `continues`, `completes`: it belongs to the record, and may be its last byte
 * - `endsBefore`: the record ended before it; unless it is a line feed, it is scanned again
 * - `breaks`: the record is malformed
 */
export type Step = "separates" | "continues" | "completes" | "endsBefore" | "breaks";

/** The place at which the next record begins if the current one is malformed. */
interface ResumePoint {
  /** Number of bytes of the current record before it. */
  readonly length: number;
  readonly line: number;
}

type Records<Result> = Generator<PlantRecord, Result, undefined>;

const byteOrderMark = [0xef, 0xbb, 0xbf];
const nothing = new Uint8Array();
/** A line that has to be scanned. */
const malformed = { isMalformed: true } as const;

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
  readonly #maxBytes: number;
  /** Number of bytes of the byte order mark so far; 3 after its place. */
  #markLength = 0;
  #pushed = 0;
  /** Bytes of the current record in earlier pieces; empty if it is over the limit. */
  #pieces: Uint8Array[] = [];
  /** Number of these bytes, including those over the limit. */
  #length = 0;
  #isBroken = false;
  #resume: ResumePoint | undefined;
  /** True if the line has only blanks and separators of arrays so far. */
  #isIndentation = true;
  #column = 0;
  #recordColumn = 0;

  /** @param maxBytes largest record that is kept */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Checks whether a line is probably a record. It is then parsed without a scan, which takes a quarter of the time. */
  protected abstract isProbablyRecord(line: Uint8Array): boolean;
  /** Scans the next byte. @throws InputSyntaxError */
  protected abstract scan(byte: number): Step;
  /** Parses a record. @returns undefined for a header. @throws InputSyntaxError */
  protected abstract parse(bytes: Uint8Array): ParsedRecord | undefined;
  /** Prepares the scanner for the line after a malformed record. */
  protected abstract restart(): void;
  /** Checks that the input may end. @throws InputSyntaxError */
  protected abstract finish(): void;

  /**
   * Returns the records that these bytes complete.
   *
   * @throws InputSyntaxError when no further record can be found
   */
  *push(bytes: Uint8Array): Records<void> {
    this.#pushed += bytes.length;
    let rest: Uint8Array | undefined = this.#skipByteOrderMark(bytes);
    while (rest !== undefined) rest = yield* this.#read(rest);
  }

  /**
   * Returns the records that the end of the input completes.
   *
   * @throws InputSyntaxError when the input is incomplete
   */
  *end(): Records<void> {
    for (let rest = yield* this.#take(nothing); rest !== undefined;) {
      rest = (yield* this.#read(rest)) ?? (yield* this.#take(nothing));
    }
    this.finish();
  }

  #skipByteOrderMark(bytes: Uint8Array): Uint8Array {
    let start = 0;
    for (; this.#markLength < 3 && start < bytes.length; start++) {
      if (bytes[start] === byteOrderMark[this.#markLength]) this.#markLength++;
      else {
        this.#markLength = 3;
        break;
      }
    }
    return bytes.subarray(start);
  }

  /** @returns bytes to read again, after a malformed record */
  *#read(bytes: Uint8Array): Records<Uint8Array | undefined> {
    const offset = this.#pushed - bytes.length;
    let start = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (this.isByLine && at === start && this.#length === 0 && !this.#isBroken) {
        const end = bytes.indexOf(lineFeed, at);
        const { line } = this;
        const parsed = end === -1 ? malformed : this.#parseLine(bytes.subarray(at, end));
        if (parsed?.isMalformed !== true) {
          this.bytesRead = offset + end;
          this.nextLine++;
          this.#isIndentation = true;
          this.#column = 0;
          this.#begin();
          if (parsed !== undefined) yield toRecord(line, bytes.subarray(at, end), parsed);
          start = end + 1;
          at = end;
          continue;
        }
      }
      const byte = bytes[at] ?? 0;
      if (this.#isIndentation) this.#scanIndentation(byte, at - start);
      const step = this.#isBroken ? "continues" : this.scan(byte);
      if (byte === lineFeed) this.#endLine(step, at + 1 - start);
      if (step === "breaks") this.#isBroken = true;
      if (this.#isBroken && this.#resume !== undefined) {
        return yield* this.#cut(bytes.subarray(start));
      }
      if (step === "continues" || step === "breaks") continue;
      const isAgain = step === "endsBefore" && byte !== lineFeed;
      if (step === "separates") this.#begin();
      else {
        const end = step === "completes" ? at + 1 : at;
        this.bytesRead = offset + end;
        const part = bytes.subarray(start, end);
        if (this.#isCutByLimit(part)) return yield* this.#cut(bytes.subarray(start));
        this.#add(part);
        const rest = yield* this.#take(bytes.subarray(end), isAgain);
        if (rest !== undefined) return rest;
      }
      if (isAgain) at--;
      start = at + 1;
    }
    const part = bytes.subarray(start);
    if (this.#isCutByLimit(part)) return yield* this.#cut(part);
    this.#add(part);
    return undefined;
  }

  #parseLine(line: Uint8Array): ParsedRecord | typeof malformed | undefined {
    const isRecord = line.length <= this.#maxBytes && this.isProbablyRecord(line);
    return isRecord ? this.parse(line) : malformed;
  }

  #scanIndentation(byte: number, length: number): void {
    const isSeparator = byte === comma || byte === leftBracket;
    if (isSeparator || (isBlank(byte) && byte !== lineFeed)) {
      this.#column++;
      return;
    }
    this.#isIndentation = false;
    if (this.nextLine === this.line) this.#recordColumn = this.#column;
    else if (byte === leftBrace && this.#column <= this.#recordColumn) {
      this.#setResume(length - this.#column);
    }
  }

  #endLine(step: Step, length: number): void {
    this.nextLine++;
    this.#isIndentation = true;
    this.#column = 0;
    if (this.isByLine && (step === "continues" || step === "breaks")) this.#setResume(length);
  }

  #setResume(length: number): void {
    // The bytes of a record over the limit are lost, so that the reader cannot return to this line later.
    if (this.#isOverLimit) this.#isBroken = true;
    this.#resume ??= { length: this.#length + length, line: this.nextLine };
  }

  get #isOverLimit(): boolean {
    return this.#length > this.#maxBytes;
  }

  #isCutByLimit(part: Uint8Array): boolean {
    return this.#resume !== undefined && this.#length + part.length > this.#maxBytes;
  }

  #add(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#isOverLimit) this.#pieces = [];
    else if (part.length > 0) this.#pieces.push(part);
  }

  /** Ends the record. @returns bytes to read again if it is malformed */
  *#take(remaining: Uint8Array, isTrimmed = false): Records<Uint8Array | undefined> {
    const { line } = this;
    if (this.#isOverLimit) {
      const plant = this.#createLimitError();
      this.#begin();
      yield { line, bytes: nothing, plant, unknownMembers: [] };
      return undefined;
    }
    const [only = nothing] = this.#pieces;
    const all = this.#pieces.length > 1 ? Buffer.concat(this.#pieces) : only;
    const bytes = isTrimmed ? trimEnd(all) : all;
    if (this.#isBroken) this.restart();
    const parsed = bytes.every(isBlank) ? undefined : this.parse(bytes);
    if (parsed?.isMalformed) {
      if (this.#resume !== undefined) return yield* this.#cut(remaining);
      // The rest of the line belongs to the malformed record.
      if (this.isByLine && isTrimmed) {
        this.#isBroken = true;
        return undefined;
      }
    }
    this.#begin();
    if (parsed !== undefined) yield toRecord(line, bytes, parsed);
    return undefined;
  }

  /** Ends a malformed record before the line at which the reader resumes. @returns bytes to read again */
  *#cut(remaining: Uint8Array): Records<Uint8Array> {
    const { line } = this;
    const { length, line: nextLine } = this.#resume ?? { length: 0, line };
    const all = joinBytes(this.#pieces, remaining);
    const end = this.#isOverLimit ? length - this.#length : length;
    const isTooLarge = this.#isOverLimit || length - 1 > this.#maxBytes;
    // Without the line feed.
    const bytes = isTooLarge ? nothing : all.subarray(0, end - 1);
    let plant = isTooLarge ? this.#createLimitError() : this.parse(bytes)?.plant;
    if (plant instanceof RequestError && nextLine > line + 1) {
      plant = new RequestError(plant.kind, `${plant.message} (lines ${line} to ${nextLine - 1})`);
    }
    this.nextLine = nextLine;
    this.#isIndentation = true;
    this.#column = 0;
    this.#begin();
    this.restart();
    const rest = all.subarray(end);
    this.bytesRead = this.#pushed - rest.length;
    if (plant !== undefined) yield { line, bytes, plant, unknownMembers: [] };
    return rest;
  }

  #begin(): void {
    this.line = this.nextLine;
    this.#recordColumn = this.#column;
    this.#pieces = [];
    this.#length = 0;
    this.#isBroken = false;
    this.#resume = undefined;
  }

  #createLimitError(): RequestError {
    const message = `the plant has more than ${this.#maxBytes} bytes, which is the limit for one record`;
    return new RequestError("bodyTooLarge", message);
  }
}

function toRecord(
  line: number,
  bytes: Uint8Array,
  { plant, id, unknownMembers, cursor, isDeletion = false }: PlantReading,
): PlantRecord {
  return { line, bytes, plant, id, unknownMembers, cursor, isDeletion };
}

/** Joins bytes. Adjacent bytes are not copied: copying the rest of a large input for each of its records takes minutes. */
function joinBytes(pieces: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  const [first] = pieces;
  if (first === undefined) return last;
  const { buffer, byteOffset, length } = first;
  const isAdjacent = buffer === last.buffer && byteOffset + length === last.byteOffset;
  return pieces.length === 1 && isAdjacent
    ? new Uint8Array(buffer, byteOffset, length + last.length)
    : Buffer.concat([...pieces, last]);
}

function trimEnd(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.findLastIndex((byte) => !isBlank(byte)) + 1);
}
