/** Prints rows of data: as a table for a user, as one line of JSON per row, or as CSV. */
import { escapeUnprintable } from "../../core/quote.ts";
import type { Item } from "../command.ts";
import { UsageError } from "../command-error.ts";
import { type Io, type OutputStream, writeText } from "../io.ts";
import type { Terminal } from "./terminal.ts";
import { fitText, padText, toTextWidth, usualColumns, wrapText } from "./text-width.ts";

/** Formats in which rows are printed. */
export type RowStyle = "table" | "json" | "csv";

/** A column of a table and of CSV. */
export interface Column<Row> {
  /** Heading of the column; in a table in upper case. */
  readonly name: string;
  /** Returns the cell of a row; undefined for an absent value. */
  readonly read: (row: Row) => string | undefined;
  /** True for numbers, which are aligned to the right. */
  readonly isNumber?: true;
  /** Set for a column whose cells may be cut: its share of the room, and the width below which a cell is unreadable. */
  readonly cut?: { readonly share: number; readonly minWidth: number };
}

/** A kind of row. */
export interface RowType<Row> {
  readonly columns: readonly Column<Row>[];
  /** Returns a row as one line of JSON. */
  readonly toJson: (row: Row) => string;
}

const gap = "  ";
/** No terminal is wider. A longer cell is not measured to its end. */
const maxCellWidth = 1000;

/**
 * Selects the style: a table on a terminal, otherwise JSON, unless a flag asks for another one.
 *
 * @throws UsageError if both flags are set
 */
export function selectStyle(
  { json, csv }: { readonly json?: boolean | undefined; readonly csv?: boolean | undefined },
  stdout: OutputStream,
): RowStyle {
  if (json && csv) throw new UsageError("--json excludes --csv: remove one of them");
  if (csv) return "csv";
  return json || !stdout.isTTY ? "json" : "table";
}

/** Where rows are printed: standard output and its terminal. */
interface RowOutput {
  readonly io: Pick<Io, "stdout">;
  readonly terminal: Pick<Terminal, "printLines">;
}

/**
 * Prints rows page by page; a table needs all pages first. On a terminal, unprintable characters are escaped.
 *
 * @returns the last row
 * @throws OutputError
 */
export async function printRows<Row>(
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { columns, toJson }: RowType<Row>,
  style: RowStyle,
  { io: { stdout }, terminal }: RowOutput,
): Promise<Row | undefined> {
  if (style === "csv") await terminal.printLines([columns.map(({ name }) => name).join(",")]);
  const rows: Row[] = [];
  let last: Row | undefined;
  for await (const page of pages) {
    last = page.at(-1) ?? last;
    if (style === "table") {
      rows.push(...page);
    } else {
      const toLine = style === "json" ? toJson : (row: Row) => toCsvLine(row, columns);
      await terminal.printLines(page.map(toLine));
    }
  }
  if (rows.length > 0) {
    await writeText(stdout, toTable(rows, columns, stdout.isTTY ? stdout.columns : undefined));
  }
  return last;
}

/** A line of CSV (RFC 4180), without its line break. An absent value is an empty cell, an empty text is `""`. */
function toCsvLine<Row>(row: Row, columns: readonly Column<Row>[]): string {
  const cells = columns.map(({ read }) => {
    const text = read(row);
    const isPlain = text === undefined || (text !== "" && !/[",\r\n]|^\s|\s$/.test(text));
    return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
  });
  return cells.join(",");
}

/**
 * Formats a line of headings, and one line per row. Cells that are too long are cut. An empty text is `""`; an absent
 * value is blank. On a terminal that is too narrow, each cell gets a line of its own.
 *
 * @param width columns of the terminal; 0 or undefined if it reports none
 */
export function toTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number | undefined,
): string {
  const lines = [
    columns.map(({ name }) => name.toUpperCase()),
    ...rows.map((row) => columns.map(({ read }) => toCell(read(row)))),
  ];
  const widths = fitWidths(lines, columns, width || usualColumns);
  const total = widths.reduce((sum, each) => sum + each, gap.length * (columns.length - 1));
  if (width && total > width) return toBlocks(rows, columns, width);
  const shown = lines.map((cells) => {
    const padded = cells.map((cell, index) => {
      const columnWidth = widths[index] ?? 0;
      const text = fitText(cell, columnWidth);
      return columns[index]?.isNumber ? text.padStart(columnWidth) : padText(text, columnWidth);
    });
    return `${padded.join(gap).trimEnd()}\n`;
  });
  return shown.join("");
}

/** A heading, and terms with their meanings. */
type ItemGroup = readonly [heading: string, items: readonly Item[]];

/** Formats groups of items, as help does: all meanings start in the same column. @param width as of {@link toItem} */
export function toItems(groups: readonly ItemGroup[], width: number | undefined): string {
  const termWidth = Math.max(...groups.flatMap(([, items]) => items.map(([term]) => term.length)));
  const blocks = groups.map(([heading, items]) => [
    `${heading}\n`,
    ...items.map(([term, text]) => toItem(gap + term, gap.length + termWidth, text, width)),
  ]);
  return blocks.map((lines) => lines.join("")).join("\n");
}

const narrowIndent = 4;

/**
 * Formats a term and its meaning, which is wrapped between words. Its further lines start below the first one. If a word
 * does not fit there, lines are only indented a little.
 *
 * @param width columns of the terminal; 0 or undefined for no limit
 */
export function toItem(
  term: string,
  termWidth: number,
  meaning: string,
  width: number | undefined,
): string {
  const beginning = padText(term, termWidth) + gap;
  const text = escapeUnprintable(meaning);
  if (!width) return `${beginning}${text}\n`;
  const column = termWidth + gap.length;
  const longest = Math.max(...text.split(" ").map((word) => toTextWidth(word)));
  const indent = column + longest > width ? narrowIndent : column;
  const lines = wrapText(text, width, column, indent);
  return `${lines.startsWith("\n") ? beginning.trimEnd() : beginning}${lines}\n`;
}

function toBlocks<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number,
): string {
  const nameWidth = Math.max(...columns.map(({ name }) => name.length));
  const blocks = rows.map((row) =>
    columns.flatMap(({ name, read }) => {
      const cell = read(row);
      if (cell === undefined) return [];
      return toItem(name.toUpperCase(), nameWidth, toCell(cell), width);
    }),
  );
  return blocks.map((lines) => lines.join("")).join("\n");
}

function toCell(text: string | undefined): string {
  if (text === undefined) return "";
  return text === "" ? '""' : text;
}

/** The widths of the columns. Columns that may be cut share the room that the others leave, by their shares. */
function fitWidths<Row>(
  lines: readonly (readonly string[])[],
  columns: readonly Column<Row>[],
  width: number,
): readonly number[] {
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((cells) => toTextWidth(fitText(cells[index] ?? "", maxCellWidth)))),
  );
  const cuttable = columns.flatMap(({ cut }, index) =>
    cut === undefined ? [] : [{ ...cut, index, width: widths[index] ?? 0 }],
  );
  const fixed = columns.reduce((sum, { cut }, index) => sum + (cut ? 0 : (widths[index] ?? 0)), 0);
  let shares = cuttable.reduce((sum, { share }) => sum + share, 0);
  let minWidths = cuttable.reduce((sum, { minWidth }) => sum + minWidth, 0);
  let room = Math.max(width - fixed - gap.length * (columns.length - 1), minWidths);
  // The column that needs least of its share comes first: the others get what it leaves.
  for (const { share, minWidth, index, width: wanted } of cuttable.toSorted(
    (a, b) => a.width / a.share - b.width / b.share,
  )) {
    minWidths -= minWidth;
    const fitted = Math.min(wanted, Math.ceil((room * share) / shares), room - minWidths);
    widths[index] = fitted;
    room -= fitted;
    shares -= share;
  }
  return widths;
}
