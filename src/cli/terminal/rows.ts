/** Prints rows of data: as a table for a user, as one line of JSON per row, or as CSV. */
import { escapeUnprintable } from "../../core/messages.ts";
import type { Run } from "../command.ts";
import { UsageError } from "../command-error.ts";
import { type OutputStream, writeText } from "../io.ts";

/** A column of a table and of CSV. */
export interface Column<Row> {
  /** Heading of the column; in a table in upper case. */
  readonly name: string;
  /** Returns the cell of a row; undefined for an absent value. */
  readonly read: (row: Row) => string | undefined;
  /** True for numbers, which are aligned to the right. */
  readonly isNumber?: true;
}

export type RowStyle = "table" | "json" | "csv";

export interface RowType<Row> {
  readonly columns: readonly Column<Row>[];
  readonly toJson: (row: Row) => string;
}

/** Selects the style: a table on a terminal, otherwise JSON, unless a flag asks for another one. */
export function selectStyle(
  { json, csv }: { readonly json?: boolean | undefined; readonly csv?: boolean | undefined },
  stdout: Pick<OutputStream, "isTTY">,
): RowStyle {
  if (json && csv) throw new UsageError("--json excludes --csv: remove one of them");
  if (csv) return "csv";
  return json || !stdout.isTTY ? "json" : "table";
}

/** Prints rows page by page; a table needs all pages first. @returns the last row */
export async function printRows<Row>(
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { columns, toJson }: RowType<Row>,
  style: RowStyle,
  { io: { stdout }, terminal }: Pick<Run, "io" | "terminal">,
): Promise<Row | undefined> {
  const rows: Row[] = [];
  // Before the first row: what fails without a row prints nothing.
  let header = style === "csv" ? [columns.map(({ name }) => name).join(",")] : [];
  let last: Row | undefined;
  for await (const page of pages) {
    last = page.at(-1) ?? last;
    if (style === "table") {
      rows.push(...page);
    } else {
      const toLine = style === "json" ? toJson : (row: Row) => toCsvLine(row, columns);
      await terminal.printLines([...header, ...page.map(toLine)]);
      header = [];
    }
  }
  await terminal.printLines(header);
  if (rows.length > 0) await writeText(stdout, await layOutTable(rows, columns));
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

const gap = "  ";
/** Longest part of a cell that is shown, in UTF-16 code units. */
const maxCellLength = 60;

/** Formats a line of headings, and one line per row. A terminal wraps those that are too long for it. */
export async function layOutTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Promise<string> {
  const { default: stringWidth } = await import("string-width");
  const lines = [
    columns.map(({ name }) => name.toUpperCase()),
    ...rows.map((row) => columns.map(({ read }) => toCell(read(row)))),
  ];
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((cells) => stringWidth(cells[index] ?? ""))),
  );
  const shown = lines.map((cells) => {
    const padded = cells.map((cell, index) => {
      const padding = " ".repeat((widths[index] ?? 0) - stringWidth(cell));
      return columns[index]?.isNumber ? padding + cell : cell + padding;
    });
    return `${padded.join(gap).trimEnd()}\n`;
  });
  return shown.join("");
}

/** An empty text is `""`; an absent value is blank. */
function toCell(text: string | undefined): string {
  if (text === undefined || text === "") return text === undefined ? "" : '""';
  const cut = text.slice(0, maxCellLength).toWellFormed();
  return escapeUnprintable(cut) + (text.length > maxCellLength ? "…" : "");
}
