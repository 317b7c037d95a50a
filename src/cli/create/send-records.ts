/** Sends records, and tells what comes of them as it becomes known. */
import type { Retry } from "../../client/create-plant.ts";
import { createPlants } from "../../client/create-plants.ts";
import { type StopCause, StoppedError } from "../../client/stop-cause.ts";
import { CommandError } from "../command-error.ts";
import { quoteInput } from "../../core/quote.ts";
import { tellOutcomes } from "./batch-report.ts";
import type { CreateRun } from "./run.ts";
import { concernsAllCreates } from "../failure.ts";
import type { LoneResult } from "./lone-answer.ts";
import type { FirstRecords } from "./lone-record.ts";
import { showWhile } from "../output/progress.ts";
import type { PlacedRecord } from "./record-input.ts";
import { isThere, toStatus } from "./record-report.ts";
import { openRejectsFile, RejectsError, type RejectsFile } from "./rejects-file.ts";
import type { Tally } from "./tally.ts";

/** How the sending ended. */
export type SendEnd =
  /** With the only record, of which nothing has been told yet. */
  | { readonly alone: LoneResult }
  /** With the last record, or early. */
  | { readonly stopped: Stop | undefined };

/** Why the sending ended early. */
interface Stop {
  /** Others would fare no better, or an input can't be read or the rejects not written. */
  readonly cause: StopCause | CommandError;
  /** The first record that nothing was told of; undefined: it was not read. */
  readonly firstUntold: PlacedRecord | undefined;
}

/**
 * Sends the records.
 *
 * @throws CommandError when the rejects can't be written at all, or those of a single record; OutputError
 * @throws the reason with which it was cut off
 */
export async function sendRecords(
  records: FirstRecords,
  token: string,
  tally: Tally,
  run: CreateRun,
): Promise<SendEnd> {
  const { options, io, colorChoice, reporter, input, lastCall } = run;
  const rejects = await openRejectsFile(options, reporter);
  const isShown = !options.many.isQuiet;
  const toText = (): string => {
    if (lastCall.aborted) return "waiting for what was sent; Ctrl-C again stops at once";
    return records.isKnownAlone() === false
      ? tally.describeProgress(input, io.nowMs())
      : `waiting for ${options.baseUrl}`;
  };
  const work = () => sendAndTell(records, token, tally, rejects, run);
  try {
    return isShown ? await showWhile(toText, work, io, colorChoice) : await work();
  } finally {
    await rejects?.close();
  }
}

async function sendAndTell(
  records: FirstRecords,
  token: string,
  tally: Tally,
  rejects: RejectsFile | undefined,
  run: CreateRun,
): Promise<SendEnd> {
  const { options, io, input } = run;
  const { source, many } = options;
  const report = {
    isQuiet: many.isQuiet,
    withFile: source.from === "inputs" && source.paths.length > 1,
    rejects,
  };
  try {
    for await (const outcomes of createPlants(records.all, toClientOptions(records, token, run))) {
      const [first] = outcomes;
      if (first !== undefined && (await records.isAlone)) {
        if (!isThere(toStatus(first.result))) await rejects?.add([first.work]);
        return { alone: first.result };
      }
      await tellOutcomes(outcomes, tally, report, io);
      if (many.isFailFast && tally.missing > 0) input.stop();
    }
  } catch (error) {
    if (error instanceof StoppedError) {
      const stopped = error as StoppedError<PlacedRecord>;
      return (await records.isAlone) ? { alone: stopped.cause } : { stopped };
    }
    const isOfBatch = error instanceof CommandError && !run.cutOff.aborted;
    if (!isOfBatch || (await records.isAlone)) throw error;
    const firstUntold = error instanceof RejectsError ? error.record : undefined;
    return { stopped: { cause: error, firstUntold } };
  }
  return { stopped: undefined };
}

function toClientOptions(
  records: FirstRecords,
  token: string,
  run: CreateRun,
): Parameters<typeof createPlants>[1] {
  const { options, io, reporter, cutOff, lastCall } = run;
  const { baseUrl, timeoutMs, many } = options;
  const toRetries = (): number => (records.isKnownAlone() ? options.retries : many.retries);
  return {
    baseUrl,
    token,
    timeoutMs,
    concurrency: many.concurrency,
    ratePerSecond: many.ratePerSecond,
    concernsAll: concernsAllCreates,
    mayRetry: (attempts) => attempts <= toRetries(),
    lastCall,
    signal: cutOff,
    onRetry(retry) {
      // Of many, each would say so.
      if (!io.stderr.isTTY || records.isKnownAlone() === false) return;
      void reporter.note(describeRetry(retry, toRetries(), baseUrl));
    },
  };
}

function describeRetry(
  { attempt, delayMs, failure }: Retry,
  retries: number,
  baseUrl: string,
): string {
  const reason = "error" in failure ? `error ${failure.error.error}` : failure.detail;
  const next = `attempt ${attempt + 1} of ${retries + 1} in ${(delayMs / 1000).toFixed(1)} s`;
  return `${baseUrl} is unavailable (${quoteInput(reason, 100)}): ${next}`;
}
