/** Records of JSON in an input of any kind: which kind it is, is told by its first record. */
import type { Framing, InputRecord } from "./input-record.ts";
import {
  isBlank,
  isOfByteOrderMark,
  leftBrace,
  leftBracket,
  lineFeed,
  recordSeparator,
} from "./json-bytes.ts";
import { LineFraming } from "./line-framing.ts";
import { SequenceFraming } from "./sequence-framing.ts";
import { ValueFraming } from "./value-framing.ts";
import { ValueScanner } from "./value-scanner.ts";

/** - `values`: one after the other in any layout, or in arrays */
type JsonLayout = "lines" | "values" | "sequence";

const framings = { lines: LineFraming, values: ValueFraming, sequence: SequenceFraming };

/** What the detector has found, and after how many of the bytes that it was given. */
interface Finding {
  /** `empty`: a line with an empty object, which looks the same in every layout. */
  readonly layout: JsonLayout | "empty";
  readonly length: number;
}

/**
 * - A record separator comes first: a sequence.
 * - `[` comes first: an array, whose elements are the records.
 * - The first line is complete, and nothing of another record stands in it; or it is broken: each line is a record.
 * - Otherwise: records one after the other, each from bracket to bracket.
 *
 * Lines that hold an empty object and come first tell nothing of what follows.
 */
export class JsonFraming implements Framing {
  readonly #maxRecordBytes: number;
  #detector = new LayoutDetector();
  #framing: Framing | undefined;
  /** That of the first byte which is held, or else of the next one. */
  #firstLine = 1;
  #held: Uint8Array[] = [];
  #heldLength = 0;

  constructor(maxRecordBytes: number) {
    this.#maxRecordBytes = maxRecordBytes;
  }

  get line(): number {
    return this.#framing?.line ?? this.#firstLine;
  }

  get isCollection(): boolean {
    return this.#framing?.isCollection ?? false;
  }

  *push(bytes: Uint8Array): Iterable<InputRecord> {
    let rest = bytes;
    while (this.#framing === undefined && rest.length > 0) {
      const { layout, length } = this.#detector.detect(rest) ?? { length: rest.length };
      this.#held.push(rest.subarray(0, length));
      this.#heldLength += length;
      rest = rest.subarray(length);
      if (layout === "empty") yield* this.#passLine();
      else if (layout !== undefined) yield* this.#choose(layout);
      else if (this.#heldLength > this.#maxRecordBytes) yield* this.#choose(this.#detector.guess());
    }
    if (this.#framing !== undefined) yield* this.#framing.push(rest);
  }

  *end(): Iterable<InputRecord> {
    if (this.#framing === undefined) yield* this.#choose(this.#detector.guess());
    if (this.#framing !== undefined) yield* this.#framing.end();
  }

  *#choose(layout: JsonLayout): Iterable<InputRecord> {
    this.#framing = new framings[layout](this.#maxRecordBytes, this.#firstLine);
    yield* this.#pushHeld(this.#framing);
  }

  /** What is held is a line, whatever comes behind it. */
  *#passLine(): Iterable<InputRecord> {
    const lines = new LineFraming(this.#maxRecordBytes, this.#firstLine);
    const records = [...this.#pushHeld(lines)];
    this.#firstLine = lines.line;
    this.#detector = new LayoutDetector();
    yield* records;
  }

  *#pushHeld(framing: Framing): Iterable<InputRecord> {
    const held = this.#held;
    this.#held = [];
    this.#heldLength = 0;
    for (const bytes of held) yield* framing.push(bytes);
  }
}

/** Reads an input up to where its layout shows. */
class LayoutDetector {
  readonly #scanner = new ValueScanner();
  #firstLine: number | undefined;
  /** Whether every line has begun with `{`, as lines of records do and those of one record do not. */
  #doLinesOpen = true;
  #isLineBlank = true;
  /** Whether the first record is complete; it is in one line then. */
  #isComplete = false;
  /** Whether nothing but blanks has come in the first record. */
  #isEmpty = true;

  /** @returns undefined: it has not shown yet */
  detect(bytes: Uint8Array): Finding | undefined {
    for (const [index, byte] of bytes.entries()) {
      const layout = this.#see(byte);
      if (layout !== undefined) return { layout, length: index + 1 };
    }
    return undefined;
  }

  /** What an input is of which no more is to be seen. */
  guess(): JsonLayout {
    const isInFirstLine = this.#scanner.line === (this.#firstLine ?? this.#scanner.line);
    return this.#isComplete || isInFirstLine || this.#doLinesOpen ? "lines" : "values";
  }

  #see(byte: number): Finding["layout"] | undefined {
    if (this.#isComplete) {
      if (byte === lineFeed) return this.#isEmpty ? "empty" : "lines";
      if (isBlank(byte)) return undefined;
      return byte === leftBrace || byte === leftBracket ? "values" : "lines";
    }
    if (this.#firstLine === undefined && !isBlank(byte) && !isOfByteOrderMark(byte)) {
      if (byte === recordSeparator) return "sequence";
      if (byte === leftBracket) return "values";
      this.#firstLine = this.#scanner.line;
    }
    if (this.#isLineBlank && !isBlank(byte) && !isOfByteOrderMark(byte)) {
      this.#isLineBlank = false;
      this.#doLinesOpen &&= byte === leftBrace;
    }
    const line = this.#scanner.line;
    const role = this.#scanner.scan(byte);
    if (role === "inside" && !isBlank(byte)) this.#isEmpty = false;
    if (role === "last") {
      if (line > (this.#firstLine ?? line)) return "values";
      this.#isComplete = true;
    }
    // The line feed that broke a string belongs to the line that it ends.
    const isInFirstLine = line === this.#firstLine;
    if (this.#scanner.isBroken || role === "next") {
      return isInFirstLine || this.#doLinesOpen ? "lines" : "values";
    }
    if (byte === lineFeed) this.#isLineBlank = true;
    return undefined;
  }
}
