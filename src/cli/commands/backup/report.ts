/** Prints the results of `backup`, `verify` and `restore`. */
import type { Run } from "../../command.ts";

/** A result, for programs and for users. */
interface Result {
  readonly report: object;
  readonly sentence: string;
}

/**
 * Prints a sentence on stderr if stdout is a terminal, otherwise a line of JSON on stdout.
 *
 * @throws OutputError
 */
export async function printResult(
  { io, terminal }: Run,
  json: boolean | undefined,
  { report, sentence }: Result,
): Promise<void> {
  if (json || !io.stdout.isTTY) await terminal.printJson([JSON.stringify(report)]);
  else await terminal.success(sentence);
}

/** Such as `1 plant`. */
export function toPlantCount(count: number): string {
  return `${count} plant${count === 1 ? "" : "s"}`;
}

const units = ["kB", "MB", "GB", "TB"] as const;

/** Such as `12.3 MB`. */
export function toSize(bytes: number): string {
  let size = bytes / 1000;
  let index = 0;
  while (size >= 999.95 && index < units.length - 1) {
    size /= 1000;
    index++;
  }
  return `${size.toFixed(1)} ${units[index]}`;
}
