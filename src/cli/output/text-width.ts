/** How much room text takes on a terminal, and what of it fits. */
import { escapeUnprintable } from "../../core/quote.ts";

/** Marks that stand on the character before them. */
const mark = /^[\p{Mn}\p{Me}]$/u;
/**
 * Characters of two columns: those that are wide by Unicode Standard Annex #11, in whole blocks, and emoji. A flag is two
 * regional indicators of one column each.
 */
const wide =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{20000}-\u{3FFFD}]|(?!\p{Regional_Indicator})\p{Emoji_Presentation})$/u;

/** Marks without end could pile up on one character. */
const maxUnitsPerColumn = 4;

/**
 * Text for one line of a terminal: what the terminal would obey is escaped, and what is wider than `maxWidth` columns is
 * cut and ends with an ellipsis.
 *
 * @param maxWidth at least 1
 */
export function fitText(text: string, maxWidth: number): string {
  let shown = "";
  let width = 0;
  /** What leaves room for the ellipsis. */
  let beginning = "";
  for (const character of text) {
    const piece = escapeUnprintable(character);
    width += toTextWidth(piece);
    if (width > maxWidth || shown.length > maxWidth * maxUnitsPerColumn) return `${beginning}…`;
    shown += piece;
    if (width < maxWidth) beginning = shown;
  }
  return shown;
}

/** The columns that printable text takes. */
export function toTextWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (wide.test(character)) width += 2;
    else if (!mark.test(character)) width += 1;
  }
  return width;
}
