/** The results as a table of Markdown. */

/** The cells of a line. */
export type Row = readonly string[];

/** A table with its columns aligned. */
export function toTable(heads: Row, rows: readonly Row[]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const toLine = (cells: Row): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [toLine(heads), toLine(widths.map((width) => "-".repeat(width))), ...rows.map(toLine)]
    .map((line) => `${line}\n`)
    .join("");
}
