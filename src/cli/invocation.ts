/** What reading a command line leaves behind. */

/** Filled in on the way from the arguments to the action. */
export interface Invocation {
  /** `--color` or `--no-color`, when one was given. */
  color?: boolean;
  /** The command whose arguments are being read. */
  command?: string;
  /** Help or the version, to be printed, when that was asked for. */
  help?: string;
  /** What the action came to. */
  exitCode: number;
}
