/** Lays out tables, and lists of terms with their meanings, in the columns of a terminal. */
import { escapeUnprintable } from "../../core/messages.ts";
import { fitText, padText, toTextWidth, defaultColumns, wrapText } from "./text-width.ts";

/** A column of a table and of CSV. */
export interface Column<Row> {
  /** Heading of the column; in a table in upper case. */
  readonly name: string;
  /** Returns the cell of a row; undefined for an absent value. */
  readonly read: (row: Row) => string | undefined;
  /** True for numbers, which are aligned to the right. */
  readonly isNumber?: true;
  /** True for a column whose cells may be cut. */
  readonly isCuttable?: true;
}

const gap = "  ";
/** No terminal is wider. A longer cell is not measured to its end. */
const maxCellWidth = 1000;
/** A shorter part of a cell cannot be read. */
const minCutWidth = 8;

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
  const widths = fitWidths(lines, columns, width || defaultColumns);
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
  const lines = wrapText(text, width, toTextWidth(beginning), indent);
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

/** The widths of the columns. While a line is too long, the widest of the columns that may be cut gets narrower. */
function fitWidths<Row>(
  lines: readonly (readonly string[])[],
  columns: readonly Column<Row>[],
  width: number,
): readonly number[] {
  const widths = columns.map(({ isCuttable }, index) => ({
    isCuttable,
    width: Math.max(
      ...lines.map((cells) => toTextWidth(fitText(cells[index] ?? "", maxCellWidth))),
    ),
  }));
  const total = widths.reduce((sum, each) => sum + each.width, gap.length * (columns.length - 1));
  const cuttable = widths.filter(({ isCuttable }) => isCuttable);
  for (let excess = total - width; excess > 0; excess--) {
    const [widest] = cuttable.toSorted((a, b) => b.width - a.width);
    if (widest === undefined || widest.width <= minCutWidth) break;
    widest.width--;
  }
  return widths.map((each) => each.width);
}
