/** Tells what came of many records: a line for each on stdout, the rejected ones to a file, their numbers to the person. */
import type { RecordOutcome } from "../../client/create-plants.ts";
import type { Io } from "../io.ts";
import { printJson } from "../output/json-output.ts";
import type { PlacedRecord } from "./record-input.ts";
import { isThere, toReportJson, toStatus } from "./record-report.ts";
import type { RejectsFile } from "./rejects-file.ts";
import type { Tally } from "./tally.ts";

/** How to tell it. */
export interface BatchReportOptions {
  /** Whether to print only what is not there. */
  readonly isQuiet: boolean;
  /** Whether to name the file of each record. */
  readonly withFile: boolean;
  readonly rejects: RejectsFile | undefined;
}

/**
 * Tells what came of some records; resolves when it is out.
 *
 * @throws OutputError; CommandError when the rejects can't be written
 */
export async function tellOutcomes(
  outcomes: readonly RecordOutcome<PlacedRecord>[],
  tally: Tally,
  { isQuiet, withFile, rejects }: BatchReportOptions,
  { stdout }: Io,
): Promise<void> {
  const missing: PlacedRecord[] = [];
  const lines: string[] = [];
  for (const outcome of outcomes) {
    const status = toStatus(outcome.result);
    tally.add(status);
    if (!isThere(status)) missing.push(outcome.work);
    if (!isQuiet || !isThere(status)) lines.push(toReportJson(outcome, withFile));
  }
  // First what can be lost: a line says that the record is dealt with.
  if (missing.length > 0) await rejects?.add(missing);
  if (lines.length > 0) await printJson(stdout, lines);
}
