/** Tells what came of many records: a line for each on stdout, the rejected ones to a file, their numbers to the person. */
import type { RecordOutcome } from "../../client/create-plants.ts";
import type { Io } from "../io.ts";
import { printJson } from "../output/json-output.ts";
import type { PlacedRecord } from "./record-input.ts";
import { isThere, toReportJson, toStatus } from "./record-report.ts";
import { RejectsError, type RejectsFile } from "./rejects-file.ts";
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
 * @throws OutputError
 * @throws RejectsError after what came of all records before that one is told
 */
export async function tellOutcomes(
  outcomes: readonly RecordOutcome<PlacedRecord>[],
  tally: Tally,
  options: BatchReportOptions,
  io: Io,
): Promise<void> {
  const missing = outcomes.filter(({ result }) => !isThere(toStatus(result)));
  try {
    // First what can be lost: a line says that the record is dealt with.
    if (missing.length > 0) await options.rejects?.add(missing.map(({ work }) => work));
  } catch (error) {
    if (!(error instanceof RejectsError)) throw error;
    const kept = outcomes.slice(
      0,
      outcomes.findIndex(({ work }) => work === error.record),
    );
    await printOutcomes(kept, tally, options, io);
    throw error;
  }
  await printOutcomes(outcomes, tally, options, io);
}

async function printOutcomes(
  outcomes: readonly RecordOutcome<PlacedRecord>[],
  tally: Tally,
  { isQuiet, withFile }: BatchReportOptions,
  { stdout }: Io,
): Promise<void> {
  const shown = isQuiet ? outcomes.filter(({ result }) => !isThere(toStatus(result))) : outcomes;
  const lines = shown.map((outcome) => toReportJson(outcome, withFile));
  if (lines.length > 0) await printJson(stdout, lines);
  for (const { work, result } of outcomes) tally.add(toStatus(result), work);
}
