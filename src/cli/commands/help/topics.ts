/** The manual in the package: topics, which are Markdown files, and files to use as they are. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toTable } from "../../terminal/rows.ts";
import { wrapText } from "../../terminal/text-width.ts";

const extension = ".md";

/** The names of the topics; empty without the directory of the manual. */
export function listTopics(): readonly string[] {
  return listManual()
    .filter((file) => file.endsWith(extension))
    .map((file) => file.slice(0, -extension.length));
}

/** The names of the other files, such as `alerts.yaml`. */
export function listManualFiles(): readonly string[] {
  return listManual().filter((file) => !file.endsWith(extension));
}

function listManual(): readonly string[] {
  const directory = findManual();
  return directory === undefined ? [] : readdirSync(directory).toSorted();
}

/**
 * The text of a topic, or of another file of the manual; undefined for an unknown name.
 *
 * @param columns columns of a terminal, which paragraphs and lists of a topic are wrapped to; undefined leaves the text
 *   unchanged
 */
export function readTopic(name: string, columns?: number): string | undefined {
  const directory = findManual();
  if (directory === undefined) return undefined;
  if (listManualFiles().includes(name)) return readFileSync(join(directory, name), "utf8");
  if (!listTopics().includes(name)) return undefined;
  const text = readFileSync(join(directory, name + extension), "utf8");
  return columns === undefined ? text : fitMarkdown(text, columns);
}

/** Lines that are not wrapped: headings, empty lines and code. */
const fixedLine = /^(?: {4}|#|```|$)/;
/** The marker of an item in a list. */
const itemMarker = /^(?:[-*]|\d+\.) /;

/** Wraps paragraphs and lists, and fits tables into the columns. */
function fitMarkdown(text: string, columns: number): string {
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

/** The sources and the built files are at different depths below the package. */
function findManual(start = import.meta.dirname): string | undefined {
  const path = join(start, "src/manual");
  if (existsSync(path)) return path;
  const parent = dirname(start);
  return parent === start ? undefined : findManual(parent);
}
