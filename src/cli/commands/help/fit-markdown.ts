/** Fits a topic of the manual into the columns of a terminal. */
import { toTable } from "../../terminal/table.ts";
import { wrapText } from "../../terminal/text-width.ts";

/** Lines that are not wrapped: headings, empty lines and code. */
const fixedLine = /^(?: {4}|#|```|$)/;
/** The marker of an item in a list. */
const itemMarker = /^(?:[-*]|\d+\.) /;

/** A link to a topic, or to a heading of the same one. */
const link = /\[([^\]]+)\]\(([a-z-]*)(?:\.md)?(?:#[^)]*)?\)/g;

/** Wraps paragraphs and lists, and fits tables into the columns of a terminal. Code is indented, and links name their topic. */
export function fitMarkdown(text: string, columns: number): string {
  const shown: string[] = [];
  let paragraph = "";
  let table: string[] = [];
  let isCode = false;
  const flush = (): void => {
    const [marker = ""] = itemMarker.exec(paragraph) ?? [];
    const plain = nameTopics(paragraph);
    if (plain !== "") shown.push(wrapText(plain, columns, 0, marker.length));
    if (table.length > 0) shown.push(fitTable(table, columns));
    paragraph = "";
    table = [];
  };
  for (const line of text.split("\n")) {
    const isFence = line.startsWith("```");
    const isFixed = isCode || fixedLine.test(line);
    if (isFixed || itemMarker.test(line)) flush();
    if (isFence) isCode = !isCode;
    else if (isFixed) shown.push(isCode && line !== "" ? `    ${line}` : line);
    else if (line.startsWith("|")) table.push(nameTopics(line));
    else paragraph = paragraph === "" ? line : `${paragraph} ${line.trimStart()}`;
  }
  return shown.join("\n");
}

function nameTopics(text: string): string {
  return text.replaceAll(link, (_, words: string, topic: string) =>
    topic === "" ? words : `${words} (help ${topic})`,
  );
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
