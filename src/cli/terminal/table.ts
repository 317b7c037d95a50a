/** Lays out tables, and lists of terms with their meanings. A terminal wraps the lines that are too long for it. */
import stringWidth from "string-width";
import { escapeUnprintable } from "../../core/messages.ts";

/** A column of a table and of CSV. */
export interface Column<Row> {
  /** Heading of the column; in a table in upper case. */
  readonly name: string;
  /** Returns the cell of a row; undefined for an absent value. */
  readonly read: (row: Row) => string | undefined;
  /** True for numbers, which are aligned to the right. */
  readonly isNumber?: true;
}

const gap = "  ";
/** Longest part of a cell that is shown, in UTF-16 code units. */
const maxCellLength = 60;

/** Formats a line of headings, and one line per row. An empty text is `""`; an absent value is blank. */
export function toTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [
    columns.map(({ name }) => name.toUpperCase()),
    ...rows.map((row) => columns.map(({ read }) => toCell(read(row)))),
  ];
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((cells) => stringWidth(cells[index] ?? ""))),
  );
  const shown = lines.map((cells) => {
    const padded = cells.map((cell, index) => {
      const width = widths[index] ?? 0;
      return columns[index]?.isNumber ? cell.padStart(width) : padText(cell, width);
    });
    return `${padded.join(gap).trimEnd()}\n`;
  });
  return shown.join("");
}

export function toItem(term: string, termWidth: number, meaning: string): string {
  return `${padText(term, termWidth)}${gap}${escapeUnprintable(meaning)}\n`;
}

function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
}

function toCell(text: string | undefined): string {
  if (text === undefined || text === "") return text === undefined ? "" : '""';
  const cut = text.slice(0, maxCellLength).toWellFormed();
  return escapeUnprintable(cut) + (text.length > maxCellLength ? "…" : "");
}
