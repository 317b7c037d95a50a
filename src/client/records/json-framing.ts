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

/**
 * - A record separator comes first: a sequence.
 * - `[` comes first: an array, whose elements are the records.
 * - The first line is complete, and nothing of another record stands in it; or it is broken: each line is a record.
 * - Otherwise: records one after the other, each from bracket to bracket.
 */
export class JsonFraming implements Framing {
  readonly #maxRecordBytes: number;
  readonly #detector = new LayoutDetector();
  #framing: Framing | undefined;
  #held: Uint8Array[] = [];
  #heldLength = 0;

  constructor(maxRecordBytes: number) {
    this.#maxRecordBytes = maxRecordBytes;
  }

  get line(): number {
    return this.#framing?.line ?? 1;
  }

  get isCollection(): boolean {
    return this.#framing?.isCollection ?? false;
  }

  *push(bytes: Uint8Array): Iterable<InputRecord> {
    if (this.#framing !== undefined) {
      yield* this.#framing.push(bytes);
      return;
    }
    this.#held.push(bytes);
    this.#heldLength += bytes.length;
    const layout = this.#detector.detect(bytes);
    if (layout !== undefined) yield* this.#choose(layout);
    else if (this.#heldLength > this.#maxRecordBytes) yield* this.#choose(this.#detector.guess());
  }

  *end(): Iterable<InputRecord> {
    if (this.#framing === undefined) yield* this.#choose(this.#detector.guess());
    if (this.#framing !== undefined) yield* this.#framing.end();
  }

  *#choose(layout: JsonLayout): Iterable<InputRecord> {
    const held = this.#held;
    this.#held = [];
    this.#framing = new framings[layout](this.#maxRecordBytes);
    for (const bytes of held) yield* this.#framing.push(bytes);
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

  /** @returns undefined: it has not shown yet */
  detect(bytes: Uint8Array): JsonLayout | undefined {
    for (const byte of bytes) {
      const layout = this.#see(byte);
      if (layout !== undefined) return layout;
    }
    return undefined;
  }

  /** What an input is of which no more is to be seen. */
  guess(): JsonLayout {
    const isInFirstLine = this.#scanner.line === (this.#firstLine ?? this.#scanner.line);
    return this.#isComplete || isInFirstLine || this.#doLinesOpen ? "lines" : "values";
  }

  #see(byte: number): JsonLayout | undefined {
    if (this.#isComplete) {
      if (byte === lineFeed) return "lines";
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
