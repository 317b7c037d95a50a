/** Findings of `doctor`, and their lines of text. */
import { redactTokens } from "../../../core/quote.ts";
import type { Palette } from "../../terminal/terminal.ts";
import { toItem } from "../../terminal/table.ts";
import { toExpectedFailure } from "../../command-failure.ts";

/** The subject of a check. */
type Subject =
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
  return { subject, state: "error", ...toExpectedFailure(error) };
}

const stateColumns = "warning  ".length;
const subjectWidth = "plantstore".length;

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
  const { success: ok, warning, error } = palette;
  const paint = { ok, warning, error, none: String }[state];
  const term = paint(state) + " ".repeat(stateColumns - state.length) + subject;
  return toItem(term, stateColumns + subjectWidth, redactTokens(message), columns);
}
