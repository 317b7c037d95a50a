/** The rows of a table: the header, which says what each column holds, and the plant that a row describes. */
import { CsvError, parse } from "csv-parse/sync";
import { RequestError } from "../../core/errors.ts";
import { decodeJsonText, JsonNumber, type JsonValue } from "../../core/json.ts";
import { checkNewPlant, type NewPlant } from "../../core/plant.ts";
import { type Columns, HeaderError } from "./input-record.ts";
import { isBlank, isOfByteOrderMark, leftBrace, leftBracket } from "./json-bytes.ts";

/** What stands between two cells. */
export type Delimiter = "," | "\t";

const members = ["id", "name", "tag"];

const isJson = "begins like JSON, which is no table: --csv and --tsv are for tables";

/** What is wrong with a row, where csv-parse finds it. */
const complaints: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: "a cell that holds quotes must stand in quotes, and they be doubled",
  CSV_INVALID_CLOSING_QUOTE: "a quoted cell goes on after its end: quotes in it must be doubled",
  CSV_QUOTE_NOT_CLOSED: "quotes are not closed",
};

/**
 * What each column holds. Capitals and blanks in a name make no difference.
 *
 * @throws HeaderError when there is no id or no name, or one of them twice
 */
export function parseHeader(bytes: Uint8Array, delimiter: Delimiter): Columns {
  const names = readHeader(bytes, delimiter).map((name = "") => name.trim().toLowerCase());
  for (const member of members) {
    if (names.indexOf(member) !== names.lastIndexOf(member)) {
      throw new HeaderError(`has two columns ${member}: leave one of them out`);
    }
  }
  if (!names.includes("id") || !names.includes("name")) {
    throw new HeaderError(
      looksLikeJson(bytes)
        ? isJson
        : "must begin with a row that names its columns: id, name and, if there are any, tag",
    );
  }
  return names.map((name) => (members.includes(name) ? name : undefined));
}

/**
 * The plant of a row. An empty cell is a member left out; `""` is an empty string.
 *
 * @throws RequestError that names every broken rule
 */
export function parseRow(bytes: Uint8Array, columns: Columns, delimiter: Delimiter): NewPlant {
  const cells = readCells(bytes, delimiter);
  if (cells.length > columns.length) {
    const message = `the row has ${cells.length} cells, and the header ${columns.length}: a cell that holds a separator must stand in quotes`;
    throw new RequestError("notJson", message);
  }
  const plant = new Map<string, JsonValue>();
  for (const [index, cell] of cells.entries()) {
    const member = columns[index];
    if (member === undefined || cell === undefined) continue;
    // As a number, however it is written: its text is what a JSON number would have.
    plant.set(member, member === "id" ? new JsonNumber(cell || "empty") : cell);
  }
  return checkNewPlant(plant, [], (member) => `column ${member}`);
}

function readHeader(bytes: Uint8Array, delimiter: Delimiter): readonly (string | undefined)[] {
  try {
    const start = bytes.findIndex((byte) => !isOfByteOrderMark(byte));
    return readCells(bytes.subarray(Math.max(start, 0)), delimiter);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (looksLikeJson(bytes)) throw new HeaderError(isJson);
    throw new HeaderError(`has a header row that can't be read: ${error.message}`, {
      cause: error,
    });
  }
}

function looksLikeJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => !isOfByteOrderMark(byte) && !isBlank(byte));
  return first === leftBrace || first === leftBracket;
}

/**
 * @returns undefined for a cell with nothing in it, not even quotes
 * @throws RequestError
 */
function readCells(bytes: Uint8Array, delimiter: Delimiter): readonly (string | undefined)[] {
  const text = decodeJsonText(bytes);
  if (text instanceof RequestError) throw text;
  try {
    const [cells = []]: (string | undefined)[][] = parse(text.replace(/\r$/, ""), {
      delimiter,
      record_delimiter: "\n",
      cast: (cell, { quoting }) => (quoting || cell !== "" ? cell : undefined),
    });
    return cells;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const complaint = complaints[error.code] ?? "it can't be read";
    throw new RequestError("notJson", `the row is not one of a table: ${complaint}`);
  }
}
