/** Reads tables (RFC 4180): a header row that names the columns, and one row for each record. */
import { attempt } from "../core/attempt.ts";
import { RequestError } from "../core/errors.ts";
import { isBlank, JsonNumber, type JsonValue, lineFeed, quotationMark } from "../core/json.ts";
import {
  inspectMembers,
  isMember,
  isRequired,
  memberNames,
  toMemberValue,
} from "../core/read-plant.ts";
import { quoteInput, toInputName } from "../core/messages.ts";
import {
  type InputBytes,
  type InputSource,
  InputSyntaxError,
  type PlantRecord,
  type RecordContent,
  type RecordFormat,
  toRejected,
  toTooLarge,
} from "./record-reader.ts";

/** A cell; undefined if it is empty and has no quotes. */
type Cell = string | undefined;

/** The cells of a row, or what is wrong with it. */
type Cells = readonly Cell[] | RequestError;

/** A row; without content if it is a header, or has no text. */
interface Row {
  readonly bytes: Uint8Array;
  readonly content: RecordContent | undefined;
}

const knownDelimiters = [",", ";", "\t", "|"];
/** The line that tells Excel the delimiter. */
const delimiterLine = /^"?sep=.?"?$/i;
/** A row without text before a header, which can have any known delimiter. */
const emptyRow = /^[,;\t|]*$/;
// Without ignoreBOM, a U+FEFF at the start of a row would be dropped.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Finds the rows of a table. A row ends with the line feed outside quotes. Rows without text are skipped. A row that names the
 * columns `id` and `name` begins another table, which may have another delimiter.
 *
 * A malformed row ends with its first line.
 */
export class TableFormat implements RecordFormat {
  readonly isCollection = true;
  header: Uint8Array | undefined;
  readonly #source: InputSource;
  #delimiter: string;
  #columns: readonly string[] | undefined;
  #isCellStart = true;
  #isCellQuoted = false;
  #isQuoteOpen = false;
  /** True after a misplaced quote: the row ends with its line. */
  #isBroken = false;
  /** Number of line feeds in the row. */
  #lineFeeds = 0;

  /** @param delimiter one ASCII character; a header may have another one */
  constructor(delimiter: string, source: InputSource) {
    this.#delimiter = delimiter;
    this.#source = source;
  }

  next(input: InputBytes): PlantRecord | undefined {
    for (;;) {
      const { line } = input;
      const row = this.#takeRow(input);
      if (row === undefined) return undefined;
      if (row.content !== undefined) return { line, bytes: row.bytes, content: row.content };
    }
  }

  #takeRow(input: InputBytes): Row | undefined {
    const { bytes, start, line } = input;
    const end = input.isInLargeLine ? undefined : this.#findEnd(input);
    if (end === undefined && !input.isInLargeLine && !input.isOverLimit()) return undefined;
    if (end !== undefined && this.#lineFeeds > 0 && !input.isOverLimit(end)) {
      const content = this.#parse(bytes.subarray(start, end), line);
      if (!content?.isMalformed) {
        const row = { bytes: input.take(end), content };
        input.skipLines(end, this.#lineFeeds + 1);
        return row;
      }
    }
    input.at = start;
    const taken = input.takeLine();
    if (taken === undefined) return undefined;
    const content = taken.isTooLarge ? toTooLarge(input) : this.#parse(taken.bytes, line);
    return { bytes: taken.bytes, content };
  }

  /** Finds the end of the row. @returns undefined if more bytes are needed */
  #findEnd(input: InputBytes): number | undefined {
    const { bytes, start } = input;
    if (input.at === start) {
      this.#isCellStart = true;
      this.#isCellQuoted = false;
      this.#isQuoteOpen = false;
      this.#isBroken = false;
      this.#lineFeeds = 0;
      const end = bytes.indexOf(lineFeed, start);
      // Most rows have no quotes: to scan their bytes takes four times as long.
      if (end !== -1 && !bytes.subarray(start, end).includes(quotationMark)) return end;
    }
    const delimiter = this.#delimiter.charCodeAt(0);
    for (; input.at < bytes.length; input.at++) {
      const byte = bytes[input.at];
      if (byte === quotationMark && !this.#isBroken) {
        this.#isCellQuoted ||= this.#isCellStart;
        // A quote in an unquoted cell makes only that line invalid, even if a later quote is not closed.
        this.#isBroken = !this.#isCellQuoted && this.#delimiter !== "\t";
        // A doubled quote closes and opens.
        if (this.#isCellQuoted) this.#isQuoteOpen = !this.#isQuoteOpen;
      } else if (byte === lineFeed) {
        if (!this.#isQuoteOpen) return input.at;
        this.#lineFeeds++;
      }
      this.#isCellStart = byte === delimiter && !this.#isQuoteOpen;
      if (this.#isCellStart) this.#isCellQuoted = false;
    }
    return input.isEnded && input.hasBytes ? bytes.length : undefined;
  }

  /** Parses a row. @returns undefined for a header, and for a row without text. @throws InputSyntaxError */
  #parse(bytes: Uint8Array, line: number): RecordContent | undefined {
    if (bytes.every(isBlank)) return undefined;
    const text = decodeRow(bytes, line);
    const row = splitRow(text, this.#delimiter);
    if (!(row instanceof RequestError) && row.every((cell) => !cell)) return undefined;
    if (this.#columns !== undefined) {
      const content = readRow(row, this.#columns);
      if (!(content.plant instanceof RequestError)) return content;
      if (findDelimiter(text, this.#source, this.#delimiter) === undefined) return content;
    } else if (typeof text === "string" && (delimiterLine.test(text) || emptyRow.test(text))) {
      return undefined;
    }
    this.#beginTable(text);
    this.header = bytes;
    return undefined;
  }

  /** @throws InputSyntaxError if no row below this header can be a plant */
  #beginTable(text: string | RequestError): void {
    const delimiter = findDelimiter(text, this.#source, this.#delimiter) ?? this.#delimiter;
    const row = splitRow(text, delimiter);
    const columns = toColumnNames(row);
    const problem = findHeaderProblem(text, row, columns, delimiter, this.#source);
    if (problem !== undefined) {
      throw new InputSyntaxError(`${toInputName(this.#source.path)} ${problem}`);
    }
    this.#columns = columns;
    this.#delimiter = delimiter;
  }
}

/** Returns the delimiter of a table by the name of its file, in any case; undefined if the name is not that of a table. */
export function toDelimiter(name: string): string | undefined {
  const [, extension] = /\.([ct]sv)$/i.exec(name) ?? [];
  if (extension === undefined) return undefined;
  return extension.toLowerCase() === "csv" ? "," : "\t";
}

/** @throws InputSyntaxError for the first row of a table, because none of its rows would be a plant */
export function assertNoTable(bytes: Uint8Array, source: InputSource): void {
  const text = decodeRow(bytes, 1);
  if (text instanceof RequestError) return;
  if (!delimiterLine.test(text) && findDelimiter(text, source) === undefined) return;
  const advice = "give it a name that ends in .csv, or use create --csv";
  throw new InputSyntaxError(`${toInputName(source.path)} is a table: ${advice}`);
}

/** Finds the delimiter of a header, `preferred` first. @returns undefined if the text is not a header of plants */
function findDelimiter(
  text: string | RequestError,
  source: InputSource,
  preferred = ",",
): string | undefined {
  return [preferred, ...knownDelimiters].find((delimiter) =>
    isHeader(
      toColumnNames(splitRow(text, delimiter)).map((name) => name.trim()),
      source,
    ),
  );
}

function readRow(row: Cells, columns: readonly string[]): RecordContent {
  if (row instanceof RequestError) return { plant: row, unknownMembers: [], isMalformed: true };
  if (row.length > columns.length) {
    const message = `the row has ${row.length} cells, but the header has ${columns.length}: a cell that contains the delimiter needs quotes`;
    return toRejected("notJson", message);
  }
  const plant = new Map<string, JsonValue>();
  const unknownMembers: string[] = [];
  for (const [index, cell] of row.entries()) {
    const column = columns[index];
    if (!column || cell === undefined) continue;
    if (!isMember(column)) {
      unknownMembers.push(column);
      continue;
    }
    const value = toMemberValue(column, cell);
    if (value instanceof JsonNumber && /\d/.test(cell) && !plainInteger.test(cell)) {
      const message = `column ${column} must be an integer in plain digits (got ${quoteInput(cell)}): a spreadsheet may have changed it, so format the column as text there`;
      return toRejected("idNotInteger", message);
    }
    plant.set(column, value);
  }
  const reading = { value: plant, problems: [] };
  return inspectMembers(reading, unknownMembers, (member) => `column ${member}`);
}

const plainInteger = /^-?(?:0|[1-9]\d*)$/;

function findHeaderProblem(
  text: string | RequestError,
  row: Cells,
  columns: readonly string[],
  delimiter: string,
  source: InputSource,
): string | undefined {
  if (typeof text === "string" && /^\s*[[{]/.test(text)) {
    return "looks like JSON: --csv, --delimiter and names that end in .csv or .tsv are for tables";
  }
  const isSpaced = columns.some((column) => column !== column.trim() && isMember(column.trim()));
  const problem = row instanceof RequestError ? row.message : isSpaced && spaces;
  if (problem) return `has a header row that is not valid: ${problem}`;
  if (isHeader(columns, source)) return undefined;
  const required = requiredMembers.join(", ");
  const optional = memberNames.filter((name) => !isRequired(name)).join(" and ");
  return `must begin with a row that names its columns once: ${required} and optionally ${optional} (got ${quoteInput(columns.join(delimiter))})`;
}

const requiredMembers = memberNames.filter(isRequired);

function isHeader(
  columns: readonly string[],
  { requiredColumns = requiredMembers }: InputSource,
): boolean {
  return memberNames.every((name) => {
    const count = columns.filter((column) => column === name).length;
    return count === 1 || (count === 0 && !requiredColumns.includes(name));
  });
}

function toColumnNames(row: Cells): readonly string[] {
  return row instanceof RequestError ? [] : row.map((cell = "") => cell.toLowerCase());
}

/** Decodes a row without its line break. A program that converts line breaks twice makes CR CR LF of LF. */
function decodeRow(bytes: Uint8Array, line: number): string | RequestError {
  const text = attempt(() => decoder.decode(bytes).replace(/\r{1,2}$/, ""));
  if (text !== undefined) return text;
  const problem = `the row at line ${line} is not valid UTF-8: save the table as UTF-8`;
  return new RequestError("notUtf8", problem);
}

const spaces = "spaces next to a delimiter belong to the cell: remove them, also in the other rows";

function splitRow(text: string | RequestError, delimiter: string): Cells {
  if (text instanceof RequestError) return text;
  const cells: Cell[] = [];
  for (let at = 0; ;) {
    let end = text.indexOf(delimiter, at);
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1);
      while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
      if (close === -1) return toRowError("a quoted cell is not closed: add its closing quote");
      end = close + 1;
      if (end < text.length && text[end] !== delimiter) {
        const [after] = text.slice(end).split(delimiter, 1);
        if (after?.trim() === "") return toRowError(spaces);
        return toRowError(
          "a quoted cell continues after its closing quote: double the quotes in it",
        );
      }
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
    } else {
      if (end === -1) end = text.length;
      const cell = text.slice(at, end);
      if (cell.includes("\r")) {
        return toRowError("a cell with a carriage return (CR) needs quotes around it");
      }
      if (cell.includes('"') && delimiter !== "\t") {
        if (/^\s+"/.test(cell)) return toRowError(spaces);
        return toRowError(
          cell.startsWith('="')
            ? "a cell is a formula: write its value alone"
            : "a cell with quotes needs quotes around it, and its own doubled",
        );
      }
      cells.push(cell === "" ? undefined : cell);
    }
    if (end === text.length) return cells;
    at = end + 1;
  }
}

function toRowError(message: string): RequestError {
  return new RequestError("notJson", message);
}
