/** Reads JSON: a value on each line, or values in any layout. */
import {
  backslash,
  comma,
  isBlank,
  JsonError,
  leftBrace,
  leftBracket,
  lineFeed,
  maxNesting,
  quotationMark,
  readJson,
  rightBrace,
  rightBracket,
} from "../core/json.ts";
import { RequestError } from "../core/errors.ts";
import { toInputName } from "../core/messages.ts";
import { inspectNewPlant } from "../core/read-plant.ts";
import {
  type InputBytes,
  type InputSource,
  InputSyntaxError,
  type PlantRecord,
  type RecordContent,
  type RecordFormat,
  RecordReader,
  toTooLarge,
} from "./record-reader.ts";
import { assertNoTable, TableFormat, toDelimiter } from "./table-reader.ts";

// A command that loads this file late gets both from here: another import() would add a file of dist to every create.
export { InputSyntaxError };

/** Parts that may come next in an array. */
type Expected = "elementOrEnd" | "element" | "commaOrEnd";

/** Number of bytes that hold any character, or a word of another language. */
const maxWordBytes = 16;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Finds JSON values. The first one decides: if its line is a whole value, every line is a record. Otherwise a value ends with
 * its last bracket, and the first malformed byte ends the input.
 */
class JsonFormat implements RecordFormat {
  isCollection = false;
  readonly #source: InputSource;
  #layout: "unknown" | "lines" | "values";
  /** True once the first value has ended, while it is open what else its line has. */
  #hasFirstEnded = false;
  /** Undefined outside arrays. */
  #expected: Expected | undefined;
  #arrayLine = 0;
  /** True from the first byte of a value to its last one. */
  #isInValue = false;
  /** Number of open brackets of the value. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The line of a value over the limit, whose bytes are dropped. */
  #largeLine: number | undefined;

  constructor(source: InputSource, layout: "unknown" | "lines") {
    this.#source = source;
    this.#layout = layout;
  }

  next(input: InputBytes): PlantRecord | undefined {
    if (this.#layout === "unknown" && !this.#decide(input)) return undefined;
    return this.#layout === "lines" ? this.#nextLine(input) : this.#nextValue(input);
  }

  #nextLine(input: InputBytes): PlantRecord | undefined {
    for (;;) {
      const { line } = input;
      const taken = input.takeLine();
      if (taken === undefined) return undefined;
      const { bytes, isTooLarge } = taken;
      if (isTooLarge) return { line, bytes, content: toTooLarge(input) };
      if (!bytes.every(isBlank)) return { line, bytes, content: this.#parse(bytes, line, 1) };
    }
  }

  /**
   * Decides the layout. A first value over the limit is not kept, and so never counts as a line.
   *
   * @returns false if more bytes are needed
   */
  #decide(input: InputBytes): boolean {
    const first = input.skipBlanks();
    if (first === undefined) return false;
    const end = this.#findFirstEnd(input, first);
    if (end === undefined && !input.isOverLimit()) return false;
    const line = input.bytes.subarray(input.start, end);
    if (first !== leftBrace) assertNoTable(line, this.#source);
    const isLine =
      end !== undefined &&
      !input.isOverLimit(end) &&
      !(inspectNewPlant(line) instanceof RequestError);
    this.#layout = isLine ? "lines" : "values";
    input.at = input.start;
    this.#isInValue = false;
    return true;
  }

  /**
   * Finds the end of the first line.
   *
   * @returns the start if its value is an array, has several lines, or is followed by another one; undefined if more bytes are
   *   needed
   */
  #findFirstEnd(input: InputBytes, first: number): number | undefined {
    if (first === leftBracket) return input.start;
    if (first !== leftBrace) return input.findLineEnd();
    if (!this.#hasFirstEnded) {
      const end = this.#findValueEnd(input);
      if (end === undefined) return undefined;
      if (input.bytes.subarray(input.start, end).includes(lineFeed)) return input.start;
      this.#hasFirstEnded = true;
      input.at = end;
    }
    const { bytes, start } = input;
    const next = (): number | undefined => bytes[input.at];
    while (next() !== lineFeed && isBlank(next() ?? 0)) input.at++;
    if (next() === undefined) return input.isEnded ? input.at : undefined;
    return next() === lineFeed ? input.at : start;
  }

  #nextValue(input: InputBytes): PlantRecord | undefined {
    if (!this.#isInValue && !this.#skipSeparators(input)) return undefined;
    const end = this.#findValueEnd(input);
    if (input.isOverLimit(end)) this.#largeLine ??= input.line;
    if (end === undefined) {
      if (this.#largeLine !== undefined) input.skip(input.at);
      return undefined;
    }
    const line = this.#largeLine ?? input.line;
    const isTooLarge = this.#largeLine !== undefined;
    const bytes = input.take(end);
    const content = isTooLarge ? toTooLarge(input) : this.#parse(bytes, line, input.column);
    if (content.isMalformed) {
      throw new InputSyntaxError((content.plant as RequestError).message, {
        record: { line, bytes, content },
      });
    }
    input.skip(end);
    this.#isInValue = false;
    this.#largeLine = undefined;
    return { line, bytes: isTooLarge ? bytes.subarray(0, 0) : bytes, content };
  }

  #parse(bytes: Uint8Array, line: number, column: number): RecordContent {
    const content = inspectNewPlant(bytes);
    if (!(content instanceof RequestError)) return content;
    const plant = locateError(content, { bytes, line, column }, toInputName(this.#source.path));
    return { plant, unknownMembers: [], isMalformed: true };
  }

  /** Finds the end of the value, or of its malformed part. @returns undefined if more bytes are needed */
  #findValueEnd(input: InputBytes): number | undefined {
    const { bytes, start } = input;
    if (!this.#isInValue) {
      this.#isInValue = true;
      this.#depth = 0;
      this.#isInString = false;
      this.#isEscaped = false;
    }
    for (; input.at < bytes.length; input.at++) {
      const byte = bytes[input.at] ?? 0;
      const after = input.at + 1;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quotationMark) {
          this.#isInString = false;
          if (this.#depth === 0) return after;
        }
        if (byte === lineFeed) return after;
        continue;
      }
      const isOpening = byte === leftBrace || byte === leftBracket;
      const isClosing = byte === rightBrace || byte === rightBracket;
      if (this.#depth === 0 && input.at > start) {
        // A number or a word has no bracket or quotation mark at its end.
        if (isBlank(byte) || byte === comma || byte === quotationMark) return input.at;
        if (isOpening || isClosing) return input.at;
      }
      if (byte === quotationMark) this.#isInString = true;
      else if (isOpening) {
        if (++this.#depth > maxNesting) return after;
      } else if (isClosing && --this.#depth <= 0) return after;
      else if (byte === comma && this.#depth === 0) return after;
    }
    return input.isEnded ? bytes.length : undefined;
  }

  /** Skips what is between values. @returns false if no value follows yet */
  #skipSeparators(input: InputBytes): boolean {
    for (;;) {
      const byte = input.skipBlanks();
      const expected = this.#expected;
      if (byte === undefined) {
        if (!input.isEnded || expected === undefined) return false;
        throw new InputSyntaxError(
          `${toInputName(this.#source.path)} ends inside the array that begins at line ${this.#arrayLine}: the rest of the input may be missing`,
        );
      }
      if (expected === undefined) {
        if (byte !== leftBracket) return true;
        this.isCollection = true;
        this.#arrayLine = input.line;
        this.#expected = "elementOrEnd";
      } else if (byte === rightBracket && expected !== "element") this.#expected = undefined;
      else if (byte === comma && expected === "commaOrEnd") this.#expected = "element";
      else if (expected !== "commaOrEnd" && byte !== comma && byte !== rightBracket) {
        this.#expected = "commaOrEnd";
        return true;
      } else if (!input.isEnded && input.bytes.length - input.start < maxWordBytes) return false;
      else throw this.#toArrayError(input, expected);
      input.skip(input.start + 1);
    }
  }

  #toArrayError({ bytes, start, line, column }: InputBytes, expected: Expected): InputSyntaxError {
    const before = { elementOrEnd: "[", element: "[1,", commaOrEnd: "[1" }[expected];
    const text = before + decoder.decode(bytes.subarray(start, start + maxWordBytes));
    const error = readJson(text, () => false) as JsonError;
    const place = { bytes: Buffer.from(text), line, column: column - before.length };
    return new InputSyntaxError(locateError(error, place, toInputName(this.#source.path)).message);
  }
}

/** Names of files whose every line is a record. */
const lineNames = /\.(?:ndjson|jsonl)$/i;

/** @param delimiter of a table. Default: by the name of the input, which may be JSON */
export function createRecordReader(
  source: InputSource,
  delimiter = toDelimiter(source.path),
): RecordReader {
  if (delimiter !== undefined) return new RecordReader(source, new TableFormat(delimiter, source));
  const layout = lineNames.test(source.path) ? "lines" : "unknown";
  return new RecordReader(source, new JsonFormat(source, layout));
}

/** The bytes of an invalid text, and where they begin in an input, both counted from 1. */
interface InputPosition {
  readonly bytes: Uint8Array;
  readonly line: number;
  readonly column: number;
}

/**
 * Names the line and the column in the input, as editors do, instead of the byte of the body, and adds how to fix a common
 * mistake. Any error that is not about JSON stays the same.
 */
export function locateError(
  error: RequestError,
  { bytes, line, column }: InputPosition,
  name: string,
): RequestError {
  if (!(error instanceof JsonError)) return error;
  const { kind, byte, parts, expected } = error;
  const before = decoder.decode(bytes.subarray(0, byte));
  const found = decoder.decode(bytes.subarray(byte, byte + maxWordBytes));
  const lines = before.split("\n");
  const firstColumn = lines.length === 1 ? column : 1;
  const errorColumn = firstColumn + Array.from(lines.at(-1) ?? "").length;
  const position = ` (${name}:${line + lines.length - 1}:${errorColumn})`;
  const advice = findAdvice(expected, before.trimEnd(), found);
  return new RequestError(kind, parts.join(position + advice));
}

/** Finds what the writer of a text took for JSON. @param found the text at the error */
function findAdvice(expected: string | undefined, before: string, found: string): string {
  if (expected === undefined) return "";
  if (/^[}\]]/.test(found) && before.endsWith(",")) return ": remove the comma before it";
  if (found.startsWith(",") && (before === "" || expected === "the end of the text")) {
    return ": remove it";
  }
  if (/^(?:\/[/*]|#)/.test(found)) return ": remove the comment, because JSON has none";
  if (/^['‘’“”]/.test(found)) return ': use double quotes (")';
  if (before === "") return "";
  const [word] = /^(?:None|-?(?:NaN|Infinity)|nan|nil|Null|NULL|undefined)\b/.exec(found) ?? [];
  if (word !== undefined) return `: leave the member out, because JSON has no ${word}`;
  if (/^(?:True|False)\b/.test(found)) return ": write it in lower case";
  if (!/^[\p{L}_$]/u.test(found)) return "";
  if (expected === "a member name in quotes") return ": put the name in double quotes";
  return expected === "a value" ? ": put text in double quotes" : "";
}
