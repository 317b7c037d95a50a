/** Sends records, and tells what comes of them as it becomes known. */
import type { Retry } from "../../client/create-plant.ts";
import { createPlants } from "../../client/create-plants.ts";
import { type StopCause, StoppedError } from "../../client/stop-cause.ts";
import { CommandError } from "../command-error.ts";
import { tellOutcomes } from "./batch-report.ts";
import type { InputRun } from "./run.ts";
import { concernsAllCreates } from "../failure.ts";
import type { LoneResult } from "./lone-answer.ts";
import type { FirstRecords } from "./lone-record.ts";
import { OutputError } from "../io.ts";
import { showWhile } from "../output/progress.ts";
import type { PlacedRecord } from "./record-input.ts";
import { isThere, toStatus } from "./record-report.ts";
import { describeUnavailable, sayRetry } from "./retry-note.ts";
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
  /** Others would fare no better, an input can't be read, or what came of them not be written. */
  readonly cause: StopCause | CommandError | OutputError;
  /** The first record that nothing was told of; undefined: it was not read. */
  readonly firstUntold: PlacedRecord | undefined;
}

/**
 * Sends the records.
 *
 * @throws CommandError when the rejects can't be written at all, or those of a single record
 * @throws OutputError when nobody reads what came of them
 * @throws the reason with which it was cut off
 */
export async function sendRecords(
  records: FirstRecords,
  token: string,
  tally: Tally,
  run: InputRun,
): Promise<SendEnd> {
  const { options, io, colorChoice, input, lastCall } = run;
  const rejects = await openRejectsFile(run);
  const isShown = !options.many.isQuiet;
  const outage: Outage = {};
  const toText = (): string => {
    if (lastCall.aborted) return "waiting for what was sent; Ctrl-C again stops at once";
    if (records.isKnownAlone() !== false) return `waiting for ${options.baseUrl}`;
    const progress = tally.describeProgress(input, io.nowMs());
    const { retry } = outage;
    return retry === undefined
      ? progress
      : `${describeUnavailable(retry, options.baseUrl)}, trying again: ${progress}`;
  };
  const work = () => sendAndTell(records, token, { tally, rejects, outage }, run);
  try {
    return isShown ? await showWhile(toText, work, io, colorChoice) : await work();
  } finally {
    await rejects?.close();
  }
}

/** That the store was unavailable when it was last asked; many create at a time, and all of them see it. */
interface Outage {
  retry?: Retry | undefined;
}

/** What is kept of what was told. */
interface Told {
  readonly tally: Tally;
  readonly rejects: RejectsFile | undefined;
  readonly outage: Outage;
}

async function sendAndTell(
  records: FirstRecords,
  token: string,
  { tally, rejects, outage }: Told,
  run: InputRun,
): Promise<SendEnd> {
  const { options, io, input, paths } = run;
  const { many } = options;
  const report = {
    isQuiet: many.isQuiet,
    withFile: paths.length > 1,
    rejects,
  };
  let untold: PlacedRecord | undefined;
  try {
    for await (const outcomes of createPlants(
      records.all,
      toClientOptions(records, token, outage, run),
    )) {
      const [first] = outcomes;
      if (first !== undefined && (await records.isAlone)) {
        if (!isThere(toStatus(first.result))) await rejects?.add([first.work]);
        return { alone: first.result };
      }
      if (outcomes.some(({ result }) => toStatus(result) !== "failed")) outage.retry = undefined;
      untold = first?.work;
      await tellOutcomes(outcomes, tally, report, io);
      if (many.isFailFast && tally.missing > 0) input.stop();
    }
  } catch (error) {
    if (error instanceof StoppedError) {
      const stopped = error as StoppedError<PlacedRecord>;
      return (await records.isAlone) ? { alone: stopped.cause } : { stopped };
    }
    if (error instanceof OutputError && !error.isClosed) {
      return { stopped: { cause: error, firstUntold: untold } };
    }
    const isOfBatch = error instanceof CommandError && !run.cutOff.signal.aborted;
    if (!isOfBatch || (await records.isAlone)) throw error;
    const firstUntold = error instanceof RejectsError ? error.record : undefined;
    return { stopped: { cause: error, firstUntold } };
  }
  return { stopped: undefined };
}

function toClientOptions(
  records: FirstRecords,
  token: string,
  outage: Outage,
  run: InputRun,
): Parameters<typeof createPlants>[1] {
  const { options, cutOff, lastCall } = run;
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
    signal: cutOff.signal,
    onRetry(retry) {
      // Of many, each would say so.
      if (records.isKnownAlone() === false) outage.retry = retry;
      else sayRetry(retry, toRetries(), run);
    },
  };
}
