/** What `doctor` found, as lines for a person. */
import { escapeUnprintable, redactTokens } from "../../core/quote.ts";
import type { Palette } from "../output/color.ts";
import { toTextWidth } from "../output/text-width.ts";
import type { Finding, FindingState } from "./finding.ts";
import type { SettingReport } from "./settings-report.ts";

const stateWidth = "warning".length;
const subjectWidth = "plantstore".length;
const gap = "  ";
const messageColumn = stateWidth + subjectWidth + 2 * gap.length;
/** In less room a column of text is hard to read: then lines go on a little to the right of where they began. */
const minMessageWidth = 40;
const narrowIndent = 4;

/**
 * A finding as a line; on a terminal as several when it does not fit.
 *
 * @param columns of the terminal; undefined or 0: there is no end of a line
 */
export function toFindingLine(
  { subject, state, message }: Finding,
  columns: number | undefined,
  palette: Palette,
): string {
  const beginning = `${paint(state, palette)}${" ".repeat(stateWidth - state.length)}${gap}${subject.padEnd(subjectWidth)}${gap}`;
  const text = escapeUnprintable(redactTokens(message));
  if (!columns) return `${beginning}${text}\n`;
  const isNarrow = columns - messageColumn < minMessageWidth;
  const lines = wrap(text, columns, messageColumn, isNarrow ? narrowIndent : messageColumn);
  return `${beginning}${lines}`.replace(/ +\n/, "\n").concat("\n");
}

/**
 * The settings, one a line: the flag, the value, and where it comes from; in columns where there is room for them.
 *
 * @param columns of the terminal; undefined or 0: there is no end of a line
 */
export function toSettingLines(
  settings: readonly SettingReport[],
  columns: number | undefined,
): string {
  const rows = settings.map(({ flag, value = "?", source = "" }) => ({
    flag,
    value: escapeUnprintable(redactTokens(value)),
    source: escapeUnprintable(source),
  }));
  const flagWidth = Math.max(...rows.map(({ flag }) => flag.length));
  const valueWidth = Math.max(...rows.map(({ value }) => toTextWidth(value)));
  const sourceColumn = flagWidth + valueWidth + 2 * gap.length;
  const width = Math.max(...rows.map(({ source }) => sourceColumn + toTextWidth(source)));
  const lines = rows.map(({ flag, value, source }) => {
    const beginning = `${flag.padEnd(flagWidth)}${gap}`;
    if (columns && width > columns) {
      return beginning + wrap(`${value} (${source})`, columns, beginning.length, narrowIndent);
    }
    return `${beginning}${value}${" ".repeat(valueWidth - toTextWidth(value))}${gap}${source}`;
  });
  return lines.map((line) => `${line.replaceAll(/ +$/gm, "")}\n`).join("");
}

function paint(state: FindingState, { success, warning, error }: Palette): string {
  switch (state) {
    case "ok":
      return success(state);
    case "warning":
      return warning(state);
    case "error":
      return error(state);
    case "none":
      return state;
  }
}

/**
 * Breaks text between words; a word that is longer than a line is left to the terminal.
 *
 * @param firstColumn where the text begins
 * @param indent where its further lines begin; not beyond that
 */
function wrap(text: string, columns: number, firstColumn: number, indent: number): string {
  let wrapped = "";
  let column = firstColumn;
  let space = "";
  for (const word of text.split(" ")) {
    const end = column + space.length + toTextWidth(word);
    if (end > columns && column > indent) {
      wrapped += `\n${" ".repeat(indent)}${word}`;
      column = indent + toTextWidth(word);
    } else {
      wrapped += space + word;
      column = end;
    }
    space = " ";
  }
  return wrapped;
}
