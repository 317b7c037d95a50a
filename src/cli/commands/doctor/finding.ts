/** Findings of `doctor`, and their lines of text. */
import { escapeUnprintable, redactTokens } from "../../../core/quote.ts";
import type { Palette } from "../../terminal/terminal.ts";
import { wrapText } from "../../terminal/text-width.ts";
import { toFailure } from "../../failure.ts";

/** The subject of a check. */
export type Subject =
  | "plantstore"
  | "node"
  | "config"
  | "data"
  | "settings"
  | "variables"
  | "sqlite"
  | "store"
  | "server"
  | "token"
  | "clock";

/**
 * - `ok`: no problem
 * - `none`: nothing to check, and nothing is needed
 * - `warning`: works, but needs attention
 * - `error`: does not work
 */
type FindingState = "ok" | "none" | "warning" | "error";

/** The result of a check. Printed as JSON, without the exit code. */
export interface Finding {
  readonly subject: Subject;
  readonly state: FindingState;
  /** One line: the state, and how to fix a problem. Without secrets. */
  readonly message: string;
  /** For errors: the exit code of a command that depends on this check. */
  readonly exitCode?: number;
}

/**
 * Converts a failure to a finding.
 *
 * @throws the error itself, if it is a bug
 */
export function toErrorFinding(subject: Subject, error: unknown): Finding {
  const { exitCode, message, stack } = toFailure(error);
  if (message === undefined || stack !== undefined) throw error;
  return { subject, state: "error", message, exitCode };
}

const stateWidth = "warning".length;
const subjectWidth = "plantstore".length;
const gap = "  ";
const messageColumn = stateWidth + subjectWidth + 2 * gap.length;
/** A narrower column is hard to read: further lines are indented a little instead. */
const minMessageWidth = 40;
const narrowIndent = 4;

/**
 * Formats a finding as a line, or as several if it does not fit.
 *
 * @param columns columns of the terminal; undefined or 0 for no limit
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
  const lines = wrapText(text, columns, messageColumn, isNarrow ? narrowIndent : messageColumn);
  return `${beginning}${lines}`.replace(/ +\n/, "\n").concat("\n");
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
