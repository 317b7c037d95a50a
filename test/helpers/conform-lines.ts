/** Parses the output of `plantstore conform --json`. */

/** The line of one rule. */
interface ConformLine {
  readonly rule: string;
  readonly group: string;
  readonly result: string;
  readonly problem?: string;
  readonly connections?: readonly { readonly sent?: string; readonly received?: string }[];
}

/** Returns the lines in their order. */
export function parseConformLines(stdout: string): readonly ConformLine[] {
  const lines = stdout.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as ConformLine);
}
