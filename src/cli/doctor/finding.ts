/** What `doctor` finds out, piece by piece. */
import { toFailure } from "../failure.ts";

/** Something that was looked at. */
export type Subject =
  | "plantstore"
  | "node"
  | "config"
  | "data"
  | "settings"
  | "variables"
  | "store"
  | "server"
  | "token"
  | "clock";

/**
 * - `ok`: as it should be
 * - `none`: nothing is there to look at, and nothing has to be
 * - `warning`: it works, and deserves attention
 * - `error`: something does not work
 */
export type FindingState = "ok" | "none" | "warning" | "error";

/** One of the findings. As JSON it is printed just so, but for the exit code. */
export interface Finding {
  readonly subject: Subject;
  readonly state: FindingState;
  /** One line: how it is, and of what is wrong what to do. Nothing secret. */
  readonly message: string;
  /** Of an error: that of a command which needs it. */
  readonly exitCode?: number;
}

/**
 * A failure as a finding.
 *
 * @throws what is a bug
 */
export function toErrorFinding(subject: Subject, error: unknown): Finding {
  const { exitCode, message, stack } = toFailure(error);
  if (message === undefined || stack !== undefined) throw error;
  return { subject, state: "error", message, exitCode };
}
