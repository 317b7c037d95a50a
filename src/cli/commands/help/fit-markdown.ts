/** Fits a topic of the manual into the columns of a terminal. */
import { toTable } from "../../terminal/table.ts";
import { wrapText } from "../../terminal/text-width.ts";

/** Lines that are not wrapped: headings, empty lines and code. */
const fixedLine = /^(?: {4}|#|```|$)/;
/** The marker of an item in a list. */
const itemMarker = /^(?:[-*]|\d+\.) /;

/** Wraps paragraphs and lists, and fits tables into the columns of a terminal. */
export function fitMarkdown(text: string, columns: number): string {
  const shown: string[] = [];
  let paragraph = "";
  let table: string[] = [];
  let isCode = false;
  const flush = (): void => {
    const [marker = ""] = itemMarker.exec(paragraph) ?? [];
    if (paragraph !== "") shown.push(wrapText(paragraph, columns, 0, marker.length));
    if (table.length > 0) shown.push(fitTable(table, columns));
    paragraph = "";
    table = [];
  };
  for (const line of text.split("\n")) {
    const isFixed = isCode || fixedLine.test(line);
    if (line.startsWith("```")) isCode = !isCode;
    if (isFixed || itemMarker.test(line)) flush();
    if (isFixed) shown.push(line);
    else if (line.startsWith("|")) table.push(line);
    else paragraph = paragraph === "" ? line : `${paragraph} ${line.trimStart()}`;
  }
  return shown.join("\n");
}

function fitTable(lines: readonly string[], columns: number): string {
  const [names = [], , ...rows] = lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("\\|", "|")),
  );
  const tableColumns = names.map((name, index) => ({
    name,
    read: (row: readonly string[]) => row[index] || undefined,
  }));
  return toTable(rows, tableColumns, columns).trimEnd();
}
