/** Reads JSON values in any layout: one per line, one after the other, and the elements of arrays. */
import { RequestError } from "../core/errors.ts";
import {
  backslash,
  colon,
  comma,
  isBlank,
  leftBrace,
  leftBracket,
  lineFeed,
  maxNesting,
  quotationMark,
  rightBrace,
  rightBracket,
} from "../core/json.ts";
import { inspectNewPlant } from "../core/read-plant.ts";
import { InputSyntaxError, type RecordContent, RecordReader, type Step } from "./record-reader.ts";
import { rejectTable, TableReader } from "./table-reader.ts";

/** Parts that may come next in an array. After a malformed element: `anything`. */
type Expected = "elementOrEnd" | "element" | "commaOrEnd" | "anything";

/** They begin the comments of other languages. */
const [slash, numberSign] = [0x2f, 0x23];

/**
 * Finds the end of each value by its brackets and strings. The rest is left to the parser.
 *
 * Outside arrays, an object on one line ends at the line feed, or where another object begins.
 */
export class JsonReader extends RecordReader {
  /** Number of open brackets of the value. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The last byte of the value that is neither blank nor in a string. */
  #previous = 0;
  #hasBegun = false;
  #isFirst = true;
  /** True while all records are the lines of a comment, or follow one and are invalid. */
  #isAfterComment = false;
  /** True after the last bracket of an object on one line. */
  #isClosed = false;
  /** True after the last bracket of an object on several lines. */
  #hasSeveralLines = false;
  /** True inside an element of an array, until a bracket begins it. */
  #isInElement = false;
  /** Undefined outside arrays. */
  #expected: Expected | undefined;
  #arrayLine = 0;

  protected override isProbablyRecord(line: Uint8Array): boolean {
    return line[0] === leftBrace;
  }

  protected override scan(byte: number): Step {
    if (this.#isInString) return this.#scanString(byte);
    if (this.#depth > 0) return this.#scanNested(byte);
    return this.#expected === undefined
      ? this.#scanTop(byte)
      : this.#scanArray(byte, this.#expected);
  }

  protected override parse(bytes: Uint8Array): RecordContent {
    const content = inspectNewPlant(bytes);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (content instanceof RequestError) {
      if (isFirst) {
        rejectTable(bytes, this.path);
        this.#isAfterComment = bytes[0] === slash || bytes[0] === numberSign;
      }
      return { plant: content, unknownMembers: [], isMalformed: true };
    }
    this.#isAfterComment = false;
    // Brackets of malformed lines may match by chance.
    if (this.#hasSeveralLines) this.isByLine = false;
    return content;
  }

  protected override restart(): void {
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
    this.#isClosed = false;
    this.#hasSeveralLines = false;
    this.#isInElement = false;
    if (this.#expected !== undefined) this.#expected = "anything";
  }

  protected override finish(): void {
    if (this.#expected === undefined || this.#expected === "anything") return;
    throw new InputSyntaxError(
      `ends inside the array that begins at line ${this.#arrayLine}: the rest of the input may be missing`,
    );
  }

  #scanString(byte: number): Step {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quotationMark) this.#isInString = false;
    return byte === lineFeed ? "breaks" : "continues";
  }

  #scanNested(byte: number): Step {
    if (isBlank(byte)) return "continues";
    const previous = this.#previous;
    this.#previous = byte;
    switch (byte) {
      case quotationMark:
        this.#isInString = true;
        return "continues";
      case leftBrace:
      case leftBracket: {
        this.#depth++;
        const isExpected = previous === colon || previous === comma || previous === leftBracket;
        // A value that is too deep may never end: without a limit, each of its lines would be scanned to the end.
        return isExpected && this.#depth <= maxNesting ? "continues" : "breaks";
      }
      case rightBrace:
      case rightBracket:
        this.#depth--;
        return this.#depth === 0 ? this.#close() : "continues";
      default:
        return "continues";
    }
  }

  #close(): Step {
    this.#isInElement = false;
    if (this.#expected !== undefined) return "completes";
    this.#isClosed = this.nextLine === this.line;
    if (this.#isClosed) return "continues";
    this.#hasSeveralLines = true;
    return "completes";
  }

  #open(byte: number): Step {
    this.#depth = 1;
    this.#hasSeveralLines = false;
    this.#previous = byte;
    return "continues";
  }

  #scanTop(byte: number): Step {
    const isOpening = byte === leftBrace || byte === leftBracket;
    if (this.#isClosed) {
      if (byte === lineFeed) this.isByLine = true;
      else if (!isOpening) return isBlank(byte) ? "continues" : "breaks";
      this.#isClosed = false;
      return "endsBefore";
    }
    if (isBlank(byte)) {
      if (byte !== lineFeed) return "continues";
      // After an empty line, a record may have several lines.
      if (this.#hasBegun) this.isByLine = false;
      return "separates";
    }
    // Text that does not begin as JSON is probably on lines.
    if (!this.#hasBegun) this.isByLine = !isOpening;
    this.#hasBegun = true;
    if (byte === leftBrace) return this.#open(byte);
    if (byte === leftBracket && this.#isAfterComment) {
      throw new InputSyntaxError(
        `has a comment before the array at line ${this.nextLine}: remove it, because JSON has none`,
      );
    }
    if (byte !== leftBracket || this.isByLine) return "breaks";
    this.isCollection = true;
    this.#expected = "elementOrEnd";
    this.#arrayLine = this.nextLine;
    return "separates";
  }

  #scanArray(byte: number, expected: Expected): Step {
    if (this.#isInElement) {
      this.#isInElement = byte !== lineFeed && byte !== comma && byte !== rightBracket;
      return this.#isInElement ? this.#scanElement(byte) : "endsBefore";
    }
    if (isBlank(byte)) return "separates";
    const isElement = byte !== comma && byte !== rightBracket;
    const isUnexpected =
      expected === "commaOrEnd"
        ? isElement
        : expected !== "anything" &&
          (byte === comma || (byte === rightBracket && expected === "element"));
    if (isUnexpected) {
      const missing = expected === "commaOrEnd" ? 'a comma or "]"' : "an element";
      const advice = byte === rightBracket ? ', so remove the comma before the "]"' : "";
      throw new InputSyntaxError(
        `is not a valid array at line ${this.nextLine}: ${missing} is missing${advice}`,
      );
    }
    if (byte === rightBracket) this.#expected = undefined;
    else this.#expected = isElement ? "commaOrEnd" : "element";
    if (!isElement) return "separates";
    this.#isInElement = true;
    return this.#scanElement(byte);
  }

  #scanElement(byte: number): Step {
    if (byte === leftBrace || byte === leftBracket) return this.#open(byte);
    if (byte === quotationMark) this.#isInString = true;
    return "continues";
  }
}

/**
 * Creates the reader of an input.
 *
 * @param delimiter of a table; undefined for JSON
 * @param maxBytes largest record that is kept
 * @param path of the input, for advice; `-` is standard input
 */
export function createRecordReader(
  delimiter: string | undefined,
  maxBytes: number,
  path: string,
): RecordReader {
  return delimiter === undefined
    ? new JsonReader(maxBytes, path)
    : new TableReader(delimiter, maxBytes, path);
}
