/** Prints rows of data: as a table for a user, as one line of JSON per row, or as CSV. */
import type { Run } from "../command.ts";
import { UsageError } from "../command-error.ts";
import { type OutputStream, writeText } from "../io.ts";
import type { Column } from "./table.ts";

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
  if (rows.length > 0) {
    const { toTable } = await import("./table.ts");
    await writeText(stdout, toTable(rows, columns));
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
