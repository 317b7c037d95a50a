/** Fits text into columns of a terminal. */
import stringWidth from "string-width";
import { escapeUnprintable } from "../../core/messages.ts";

/** Limits the combining marks on one character. */
const maxUnitsPerColumn = 4;
const segmenter = new Intl.Segmenter();

/** Columns of a terminal that reports no width, or 0. */
export const defaultColumns = 80;

/** Number of columns that printable text occupies. */
export const toTextWidth = stringWidth;

/**
 * Escapes text for one line of a terminal, and cuts text that is wider than `maxWidth` columns; an ellipsis marks the cut.
 *
 * @param maxWidth at least 1
 */
export function fitText(text: string, maxWidth: number): string {
  const maxUnits = maxWidth * maxUnitsPerColumn;
  let shown = "";
  let width = 0;
  /** The longest start of the text that leaves a column for the ellipsis. */
  let start = "";
  // A longer text is cut in any case. A single character can consist of any number of marks.
  for (const { segment } of segmenter.segment(text.slice(0, maxUnits + 1))) {
    const piece = escapeUnprintable(segment);
    width += toTextWidth(piece);
    if (width > maxWidth || shown.length + piece.length > maxUnits) {
      return width <= maxWidth ? `${(shown + piece).slice(0, maxUnits)}…` : `${start}…`;
    }
    shown += piece;
    if (width < maxWidth) start = shown;
  }
  return shown;
}

/** Pads text with spaces to a width in columns. */
export function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - toTextWidth(text)));
}

/**
 * Breaks text between words. The terminal breaks a word that is longer than a line.
 *
 * @param columns columns of the terminal, as it reports them
 * @param firstColumn column of the start of the text
 * @param indent column of its further lines, at most `firstColumn`
 */
export function wrapText(
  text: string,
  columns: number | undefined,
  firstColumn = 0,
  indent = 0,
): string {
  const width = columns || defaultColumns;
  let wrapped = "";
  let column = firstColumn;
  let space = "";
  for (const word of text.split(" ")) {
    const end = column + space.length + toTextWidth(word);
    if (end > width && column > indent) {
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
