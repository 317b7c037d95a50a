/** Whether and how text is coloured, judged for each stream: `--color`, then NO_COLOR, then FORCE_COLOR, then the terminal. */
import type { Environment, OutputStream } from "../io.ts";

/** The colours that plantstore uses. */
export interface Palette {
  readonly success: (text: string) => string;
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
}

/**
 * Whether a stream gets colour.
 *
 * @param choice `--color` or `--no-color`, when one was given
 */
export function isColored(
  stream: OutputStream,
  choice: boolean | undefined,
  env: Environment,
): boolean {
  if (choice !== undefined) return choice;
  if (env["NO_COLOR"]) return false; // https://no-color.org
  const force = env["FORCE_COLOR"]; // https://force-color.org
  if (force) return force !== "0" && force !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** The colours, or none of them. */
export async function loadPalette(colored: boolean): Promise<Palette> {
  if (!colored) return { success: String, error: String, warning: String };
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level: 1 });
  return { success: chalk.green, error: chalk.bold.red, warning: chalk.bold.yellow };
}
