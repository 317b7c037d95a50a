/** Reads tables (RFC 4180): a header row that names the columns, and one row for each record. */
import { attempt } from "../core/attempt.ts";
import { RequestError } from "../core/errors.ts";
import { toInteger } from "../core/plant.ts";
import {
  isBlank,
  JsonNumber,
  type JsonValue,
  leftBrace,
  leftBracket,
  lineFeed,
  quotationMark,
} from "../core/json.ts";
import {
  inspectNewPlant,
  isRequired,
  memberNames,
  type PlantReading,
  toMemberValue,
} from "../core/read-plant.ts";
import { quoteInput } from "../core/messages.ts";
import { InputSyntaxError, type RecordContent, RecordReader, type Step } from "./record-reader.ts";

/** A cell; undefined if it is empty and has no quotes. */
type Cell = string | undefined;

/** The cells of a row, or what is wrong with it. */
type Row = readonly Cell[] | RequestError;

const knownDelimiters = [",", ";", "\t", "|"];
// Without ignoreBOM, a U+FEFF at the start of a row would be dropped.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads a table. A row ends with the line feed outside quotes. Blank rows are skipped. A row that names the columns `id`
 * and `name` begins another table.
 */
export class TableReader extends RecordReader {
  override isCollection = true;
  protected override isByLine = true;
  readonly #delimiter: string;
  #columns: readonly string[] | undefined;
  #isCellStart = true;
  #isCellQuoted = false;
  #isQuoteOpen = false;

  /**
   * @param delimiter one ASCII character
   * @param maxBytes largest row that is kept
   */
  constructor(delimiter: string, maxBytes: number) {
    super(maxBytes);
    this.#delimiter = delimiter;
  }

  protected override isProbablyRecord(line: Uint8Array): boolean {
    return !line.includes(quotationMark) && !line.every(isBlank);
  }

  protected override scan(byte: number): Step {
    if (byte === quotationMark) {
      this.#isCellQuoted ||= this.#isCellStart;
      // A quote in an unquoted cell makes only that line invalid, even if a later quote is not closed.
      if (!this.#isCellQuoted) return "breaks";
      // A doubled quote closes and opens.
      this.#isQuoteOpen = !this.#isQuoteOpen;
    }
    const endsRow = byte === lineFeed && !this.#isQuoteOpen;
    const endsCell = byte === this.#delimiter.charCodeAt(0) && !this.#isQuoteOpen;
    this.#isCellStart = endsRow || endsCell;
    if (this.#isCellStart) this.#isCellQuoted = false;
    return endsRow ? "endsBefore" : "continues";
  }

  protected override parse(bytes: Uint8Array): RecordContent | undefined {
    const row = splitRow(bytes, this.#delimiter, this.line);
    if (this.#columns === undefined) {
      this.#columns = readHeader(bytes, row, this.#delimiter);
      this.header = bytes;
      return undefined;
    }
    if (row instanceof RequestError) return { plant: row, unknownMembers: [], isMalformed: true };
    const reading = readPlant(row, this.#columns);
    if (reading.plant instanceof RequestError && isHeader(toColumns(row))) {
      this.#columns = toColumns(row);
      this.header = bytes;
      return undefined;
    }
    return reading;
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

/**
 * Finds the delimiter of a header row.
 *
 * @returns undefined if the row is not the header of a table of plants
 */
export function findDelimiter(row: Uint8Array): string | undefined {
  return knownDelimiters.find((delimiter) => isHeader(toColumns(splitRow(row, delimiter, 1))));
}

function readPlant(row: readonly Cell[], columns: readonly string[]): PlantReading {
  if (row.length > columns.length) {
    const message = `the row has ${row.length} cells, but the header has ${columns.length}: a cell that contains the delimiter needs quotes`;
    return { plant: new RequestError("notJson", message), unknownMembers: [] };
  }
  const plant = new Map<string, JsonValue>();
  for (const [index, cell] of row.entries()) {
    const column = columns[index];
    if (!column || cell === undefined) continue;
    if (isSpreadsheetNumber(column, cell)) {
      const message = `column ${column} must be an integer without an exponent or a decimal point (got ${quoteInput(cell)}): a spreadsheet may have rounded it; format the column as text there`;
      return { plant: new RequestError("idNotInteger", message), unknownMembers: [] };
    }
    plant.set(column, toMemberValue(column, cell));
  }
  return inspectNewPlant(plant, [], (member) => `column ${member}`);
}

/** Returns whether a spreadsheet may have written an integer: it rounds those with more than 15 digits. */
function isSpreadsheetNumber(column: string, cell: string): boolean {
  const value = toMemberValue(column, cell);
  return value instanceof JsonNumber && /[.e]/i.test(cell) && toInteger(cell) !== undefined;
}

/** @throws InputSyntaxError if no row below this header can be a plant */
function readHeader(bytes: Uint8Array, row: Row, delimiter: string): readonly string[] {
  const first = bytes.find((byte) => !isBlank(byte));
  if (first === leftBrace || first === leftBracket) {
    throw new InputSyntaxError(
      "looks like JSON: --csv, --delimiter and names that end in .csv or .tsv are for tables",
    );
  }
  if (row instanceof RequestError) {
    throw new InputSyntaxError(`has a header row that is not valid: ${row.message}`);
  }
  const columns = toColumns(row);
  const repeated = memberNames.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (repeated !== undefined) {
    throw new InputSyntaxError(`has two columns ${repeated}: remove one of them`);
  }
  if (isHeader(columns)) return columns;
  const other = findDelimiter(bytes);
  if (other === undefined || other === delimiter) {
    const required = memberNames.filter(isRequired).join(", ");
    const optional = memberNames.filter((name) => !isRequired(name)).join(" and ");
    throw new InputSyntaxError(
      `must begin with a row that names its columns: ${required} and optionally ${optional} (got ${quoteInput(columns.join(delimiter))})`,
    );
  }
  const name = other === "\t" ? "tabs" : `"${other}"`;
  throw new InputSyntaxError(
    `has a header row that is separated by ${name}: use create ${toTableFlag(other)}`,
  );
}

/** Returns the flag of a table with this delimiter. */
export function toTableFlag(delimiter: string): string {
  if (delimiter === ",") return "--csv";
  return delimiter === "\t" ? "--delimiter tab" : `--delimiter "${delimiter}"`;
}

function isHeader(columns: readonly string[]): boolean {
  return memberNames.every((name) => !isRequired(name) || columns.includes(name));
}

function toColumns(row: Row): readonly string[] {
  return row instanceof RequestError ? [] : row.map((cell = "") => cell.trim().toLowerCase());
}

function splitRow(bytes: Uint8Array, delimiter: string, line: number): Row {
  const cells: Cell[] = [];
  const text = attempt(() => decoder.decode(bytes).replace(/\r$/, ""));
  if (text === undefined) {
    const message = `the row at line ${line} is not valid UTF-8: save the table as UTF-8`;
    return new RequestError("notUtf8", message);
  }
  for (let at = 0; ;) {
    let end = text.indexOf(delimiter, at);
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1);
      while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
      if (close === -1) return malformed("a quoted cell is not closed: add its closing quote");
      end = close + 1;
      if (end < text.length && text[end] !== delimiter) {
        return malformed(
          "a quoted cell continues after its closing quote: double the quotes in it",
        );
      }
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
    } else {
      if (end === -1) end = text.length;
      const cell = text.slice(at, end);
      if (cell.includes('"')) {
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
