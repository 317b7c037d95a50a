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
import { quoteInput } from "../core/messages.ts";
import { toFilter } from "./other-formats.ts";
import { InputSyntaxError, type RecordContent, RecordReader, type Step } from "./record-reader.ts";

/** A cell; undefined if it is empty and has no quotes. */
type Cell = string | undefined;

/** The cells of a row, or what is wrong with it. */
type Row = readonly Cell[] | RequestError;

const knownDelimiters = [",", ";", "\t", "|"];
/** The line that tells Excel the delimiter. */
const delimiterLine = /^"?sep=.?"?$/i;
/** The text of other programs for a missing value. */
const nullText = /^(?:NULL|null|\\N)$/;
/** A row without text before a header, which can have any known delimiter. */
const emptyRow = /^[,;\t|]*$/;
// Without ignoreBOM, a U+FEFF at the start of a row would be dropped.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads a table. A row ends with the line feed outside quotes. Rows without text are skipped. A row that names the columns
 * `id` and `name` begins another table, which may have another delimiter.
 */
export class TableReader extends RecordReader {
  override isCollection = true;
  protected override isByLine = true;
  #delimiter: string;
  #columns: readonly string[] | undefined;
  #isCellStart = true;
  #isCellQuoted = false;
  #isQuoteOpen = false;

  /**
   * @param delimiter one ASCII character; a header may have another one
   * @param maxBytes largest row that is kept
   * @param path of the input, for advice; `-` is standard input
   */
  constructor(delimiter: string, maxBytes: number, path?: string) {
    super(maxBytes, path);
    this.#delimiter = delimiter;
  }

  protected override isProbablyRecord(line: Uint8Array): boolean {
    return !line.includes(quotationMark) && !line.every(isBlank);
  }

  protected override scan(byte: number): Step {
    if (byte === quotationMark) {
      this.#isCellQuoted ||= this.#isCellStart;
      // A quote in an unquoted cell makes only that line invalid, even if a later quote is not closed.
      if (!this.#isCellQuoted && this.#delimiter !== "\t") return "breaks";
      // A doubled quote closes and opens.
      if (this.#isCellQuoted) this.#isQuoteOpen = !this.#isQuoteOpen;
    }
    const endsRow = byte === lineFeed && !this.#isQuoteOpen;
    const endsCell = byte === this.#delimiter.charCodeAt(0) && !this.#isQuoteOpen;
    this.#isCellStart = endsRow || endsCell;
    if (this.#isCellStart) this.#isCellQuoted = false;
    return endsRow ? "endsBefore" : "continues";
  }

  protected override parse(bytes: Uint8Array): RecordContent | undefined {
    const text = decodeRow(bytes, this.line, this.path);
    const row = splitRow(text, this.#delimiter);
    if (!(row instanceof RequestError) && row.every((cell) => !cell)) return undefined;
    if (this.#columns !== undefined) {
      const content = readRow(row, this.#columns);
      if (!(content.plant instanceof RequestError)) return content;
      if (findDelimiter(text, this.#delimiter) === undefined) return content;
    } else if (typeof text === "string" && (delimiterLine.test(text) || emptyRow.test(text))) {
      return undefined;
    }
    this.#beginTable(text);
    this.header = bytes;
    return undefined;
  }

  /** @throws InputSyntaxError if the text is not a header */
  #beginTable(text: string | RequestError): void {
    if (typeof text === "string") assertLineFeeds(text, this.path);
    const delimiter = findDelimiter(text, this.#delimiter) ?? this.#delimiter;
    this.#columns = readHeader(text, delimiter);
    this.#delimiter = delimiter;
  }

  protected override restart(): void {
    this.#isCellStart = true;
    this.#isCellQuoted = false;
    this.#isQuoteOpen = false;
  }

  /** A table without a header has no records. */
  protected override finish(): void {}
}

/** Returns the delimiter of a table by the name of its file, in any case; undefined if the name is not that of a table. */
export function toDelimiter(name: string): string | undefined {
  const [, extension] = /\.([ct]sv)$/i.exec(name) ?? [];
  if (extension === undefined) return undefined;
  return extension.toLowerCase() === "csv" ? "," : "\t";
}

/** @throws InputSyntaxError for the first row of a table, because none of its rows would be a plant */
export function rejectTable(bytes: Uint8Array, path: string): void {
  const text = decodeRow(bytes, 1, path);
  if (text instanceof RequestError) return;
  assertLineFeeds(text, path);
  if (!delimiterLine.test(text) && findDelimiter(text) === undefined) return;
  throw new InputSyntaxError("is a table: give it a name that ends in .csv, or use create --csv");
}

/** Finds the delimiter of a header, `preferred` first. @returns undefined if the text is not a header of plants */
function findDelimiter(text: string | RequestError, preferred = ","): string | undefined {
  return [preferred, ...knownDelimiters].find((delimiter) =>
    isHeader(toColumns(splitRow(text, delimiter)).map((name) => name.trim())),
  );
}

/** @throws InputSyntaxError for a table as a spreadsheet of the classic Mac OS writes it */
function assertLineFeeds(text: string, path: string): void {
  const end = text.indexOf("\r");
  if (end === -1 || findDelimiter(text.slice(0, end)) === undefined) return;
  throw new InputSyntaxError(
    `has lines that end with CR only: convert them, for example with ${toFilter(String.raw`tr '\r' '\n'`, path)} | plantstore create --csv -`,
  );
}

function readRow(row: Row, columns: readonly string[]): RecordContent {
  if (row instanceof RequestError) return { plant: row, unknownMembers: [], isMalformed: true };
  if (row.length > columns.length) {
    const message = `the row has ${row.length} cells, but the header has ${columns.length}: a cell that contains the delimiter needs quotes`;
    return { plant: new RequestError("notJson", message), unknownMembers: [] };
  }
  const plant = new Map<string, JsonValue>();
  let nullColumn: string | undefined;
  const unknownMembers: string[] = [];
  for (const [index, cell] of row.entries()) {
    const column = columns[index];
    if (!column || cell === undefined) continue;
    if (!isMember(column)) {
      unknownMembers.push(column);
      continue;
    }
    const value = toMemberValue(column, cell);
    if (value instanceof JsonNumber && !plainInteger.test(cell)) {
      const message = findSpreadsheetProblem(column, cell);
      if (message) return { plant: new RequestError("idNotInteger", message), unknownMembers: [] };
    }
    if (column !== "name" && nullText.test(cell)) nullColumn = column;
    plant.set(column, value);
  }
  const content = inspectMembers(
    { value: plant, problems: [] },
    unknownMembers,
    (member) => `column ${member}`,
  );
  return nullColumn === undefined ? content : { ...content, nullColumn };
}

const plainInteger = /^-?(?:0|[1-9]\d*)$/;
const rounded = "a spreadsheet may have rounded it; format the column as text there";
/** Parts that spreadsheets and their users add to integers. A spreadsheet rounds those with more than 15 digits. */
const additions: readonly (readonly [form: RegExp, name: string, advice?: string])[] = [
  [/^\s|\s$/, "spaces around it"],
  [/^=/, "a formula around it"],
  [/^["'“”‘’]/, "quotes or an apostrophe"],
  [/^-?0\d+$/, "leading zeros"],
  [/^\+/, "a plus sign"],
  [/^-?\d{1,3}(?:([ ,'’\u00a0\u2009\u202f])\d{3}(?:\1\d{3})*|(?:\.\d{3}){2,})$/, "separators"],
  [/^-?\d+(?:[.,]0+|(?:[.,]\d+)?e[+-]?\d+)$/i, "an exponent or a decimal point", rounded],
];

/** Describes an integer that is not written as one; undefined for other text. */
function findSpreadsheetProblem(column: string, cell: string): string | undefined {
  const [, name, advice = "write only its digits"] =
    additions.find(([form]) => form.test(cell)) ?? [];
  if (name === undefined) return undefined;
  return `column ${column} must be an integer without ${name} (got ${quoteInput(cell)}): ${advice}`;
}

/** @throws InputSyntaxError if no row below this header can be a plant */
function readHeader(text: string | RequestError, delimiter: string): readonly string[] {
  if (typeof text === "string" && /^\s*[[{]/.test(text)) {
    throw new InputSyntaxError(
      "looks like JSON: --csv, --delimiter and names that end in .csv or .tsv are for tables",
    );
  }
  const row = splitRow(text, delimiter);
  const columns = toColumns(row);
  const isSpaced = columns.some((column) => column !== column.trim() && isMember(column.trim()));
  const problem = row instanceof RequestError ? row.message : isSpaced && spaces;
  if (problem) throw new InputSyntaxError(`has a header row that is not valid: ${problem}`);
  const repeated = memberNames.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (repeated !== undefined) {
    throw new InputSyntaxError(`has two columns ${repeated}: remove one of them`);
  }
  if (isHeader(columns)) return columns;
  const required = memberNames.filter(isRequired).join(", ");
  const optional = memberNames.filter((name) => !isRequired(name)).join(" and ");
  throw new InputSyntaxError(
    `must begin with a row that names its columns: ${required} and optionally ${optional} (got ${quoteInput(columns.join(delimiter))})`,
  );
}

function isHeader(columns: readonly string[]): boolean {
  return memberNames.every((name) => !isRequired(name) || columns.includes(name));
}

function toColumns(row: Row): readonly string[] {
  return row instanceof RequestError ? [] : row.map((cell = "") => cell.toLowerCase());
}

/** Decodes a row without its line break. A program that converts line breaks twice makes CR CR LF of LF. */
function decodeRow(bytes: Uint8Array, line: number, path: string): string | RequestError {
  const text = attempt(() => decoder.decode(bytes).replace(/\r{1,2}$/, ""));
  if (text !== undefined) return text;
  return new RequestError(
    "notUtf8",
    `the row at line ${line} is not valid UTF-8: save the table as UTF-8, or convert it, for example with ${toFilter("iconv --from-code WINDOWS-1252 --to-code UTF-8", path)} | plantstore create --csv -`,
  );
}

const spaces = "spaces next to a delimiter belong to the cell: remove them, also in the other rows";

function splitRow(text: string | RequestError, delimiter: string): Row {
  if (text instanceof RequestError) return text;
  const cells: Cell[] = [];
  for (let at = 0; ;) {
    let end = text.indexOf(delimiter, at);
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1);
      while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
      if (close === -1) return malformed("a quoted cell is not closed: add its closing quote");
      end = close + 1;
      if (end < text.length && text[end] !== delimiter) {
        const [after] = text.slice(end).split(delimiter, 1);
        if (after?.trim() === "") return malformed(spaces);
        return malformed(
          "a quoted cell continues after its closing quote: double the quotes in it",
        );
      }
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
    } else {
      if (end === -1) end = text.length;
      const cell = text.slice(at, end);
      if (cell.includes("\r")) {
        return malformed("a cell with a carriage return (CR) needs quotes around it");
      }
      if (cell.includes('"') && delimiter !== "\t") {
        if (/^\s+"/.test(cell)) return malformed(spaces);
        if (cell.startsWith('="')) return malformed("a cell is a formula: write its value alone");
        return malformed("a cell with quotes needs quotes around it, and its own doubled");
      }
      cells.push(cell === "" ? undefined : cell);
    }
    if (end === text.length) return cells;
    at = end + 1;
  }
}

function malformed(message: string): RequestError {
  return new RequestError("notJson", message);
}
