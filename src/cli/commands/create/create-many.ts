/** Creates many plants, and reports the records, the progress, the summary and how to resume. */
import type { Retry } from "../../../client/create-plant.ts";
import { createPlants } from "../../../client/create-plants.ts";
import type { Post } from "../../../client/http/message.ts";
import { StoppedError } from "../../../client/stopped-error.ts";
import { InputSyntaxError } from "../../../records/record.ts";
import { BatchInterruption, CommandError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { toExitCode, toFailure } from "../../failure.ts";
import { toInputName } from "../../input.ts";
import { OutputError } from "../../io.ts";
import { tracePost } from "../../request-trace.ts";
import type { FoundToken } from "../../config/token-source.ts";
import { describeUnavailable, reportError, toDetails, toRequest } from "./create-one.ts";
import type { PlacedRecord } from "./record-input.ts";
import { openRejectsFile } from "./rejects-file.ts";
import { type RecordOutcome, RecordReport, toStatus } from "./report.ts";
import { findTokenToSend } from "./request-token.ts";
import type { CreateRun, ManyRun } from "./create-run.ts";

type RecordGroups = AsyncIterable<Iterable<PlacedRecord>>;

/**
 * Creates the plants.
 *
 * @returns the exit code, after the results are printed
 * @throws CommandError, BatchInterruption, OutputError
 */
export async function createMany(groups: RecordGroups, run: ManyRun): Promise<number> {
  const { options, io, input, lastCall, terminal } = run;
  const { isDryRun, isQuiet, isFailFast, fromLine } = options.many;
  const found = isDryRun ? undefined : await findTokenToSend(run);
  const rejects = await openRejectsFile(run);
  const report = new RecordReport(run, rejects);
  const outage: Outage = {};
  const toText = (): string => {
    if (lastCall.aborted) return "waiting for plants in flight; Ctrl-C again stops at once";
    const { tally, bytesRead } = report;
    const progress = tally.describeProgress(bytesRead, input.totalBytes, io.nowMs());
    const { retry } = outage;
    return retry === undefined
      ? progress
      : `${describeUnavailable(retry, options.baseUrl)}, retrying: ${progress}`;
  };
  const outcomes = found === undefined ? validate(groups, run) : send(groups, found, outage, run);
  const work = async (clear: () => void): Promise<void> => {
    report.clearProgress = clear;
    for await (const batch of outcomes) {
      if (batch.some(({ result }) => result && toStatus(result) !== "failed")) delete outage.retry;
      await report.add(batch);
    }
  };
  let failure: unknown;
  try {
    run.isSent = !isDryRun;
    const hasProgress = !isQuiet && !options.isVerbose && !run.isTyped;
    await (hasProgress ? terminal.showWhile(toText, work) : work(() => {}));
  } catch (error) {
    if (!isExpected(error, run)) throw error;
    failure = error;
  } finally {
    await rejects?.close();
  }
  await report.end();
  const hint = describeResume(report, failure, run);
  if (failure !== undefined) return reportFailure(failure, hint, found?.source ?? "", run);
  const signal = run.stopSignal();
  if (signal !== undefined) throw new BatchInterruption(signal, hint);
  if (report.tally.total === 0 && !isQuiet) {
    const isPart = fromLine !== undefined && fromLine > 1;
    const part = `no record begins at line ${fromLine} or after it (--from-line)`;
    await terminal.warning(isPart ? part : "the input has no records");
  }
  if (report.tally.missing === 0) return exitCodes.done.code;
  if (isFailFast && !options.many.isSilent) {
    await terminal.note(`stopped at the first rejected or failed record (--fail-fast): ${hint}`);
  }
  return exitCodes.someMissing.code;
}

/** The store was unavailable at the last attempt. All plants in flight see the same outage. */
interface Outage {
  retry?: Retry;
}

function send(
  groups: RecordGroups,
  { token }: FoundToken,
  outage: Outage,
  run: ManyRun,
): AsyncIterable<readonly RecordOutcome[]> {
  const { options, input, lastCall, terminal } = run;
  const { timeoutMs, many } = options;
  const { retries, concurrency, ratePerSecond, isFailFast } = many;
  return createPlants(groups, {
    request: toRequest(token, run),
    timeoutMs,
    retries,
    concurrency,
    ratePerSecond,
    isFailFast,
    lastCall,
    stopReading: input.stop,
    onRetry: (retry) => (outage.retry = retry),
    ...(options.isVerbose && { wrapPost: (post: Post) => tracePost(post, terminal) }),
  });
}

/** Reports valid records without sending them. */
async function* validate(
  groups: RecordGroups,
  { options, input }: ManyRun,
): AsyncGenerator<readonly RecordOutcome[], void, undefined> {
  for await (const group of groups) {
    const outcomes: RecordOutcome[] = [];
    for (const item of group) {
      const { plant } = item;
      const isRejected = "message" in plant;
      outcomes.push({ item, result: isRejected ? plant : { ok: true, plant, result: "valid" } });
      if (!isRejected || plant.isSkipped || !options.many.isFailFast) continue;
      input.stop();
      break;
    }
    yield outcomes;
  }
}

/** Checks for a failure after which the user can resume the run. */
function isExpected(error: unknown, { cutOff }: CreateRun): boolean {
  if (error instanceof StoppedError) return true;
  if (error instanceof OutputError) return !error.isClosed;
  return error instanceof CommandError && !cutOff.signal.aborted;
}

/** Describes how to resume the run. With a file of rejects, only records that it lacks are sent again. */
function describeResume(
  { resumeAt, tally }: RecordReport,
  failure: unknown,
  { input, paths, options }: ManyRun,
): string {
  const { path, line } = resumeAt ?? input.place;
  const isSyntax = failure instanceof CommandError && failure.cause instanceof InputSyntaxError;
  const correct = isSyntax ? "correct the input, then " : "";
  const inputs = paths.length > 1 ? ` and the inputs from ${toInputName(path)} on` : "";
  const { rejectsPath } = options.many;
  const isChanged = rejectsPath !== undefined && tally.missing > 0;
  const toNote = (verb: string): string => (isChanged ? ` (${verb} ${rejectsPath})` : "");
  return `${correct}resume with --from-line ${line}${inputs}${toNote("extends")}, or repeat the same command${toNote("replaces")}`;
}

async function reportFailure(
  failure: unknown,
  hint: string,
  tokenSource: string,
  { options, terminal }: ManyRun,
): Promise<number> {
  const cause = failure instanceof StoppedError ? failure.cause : failure;
  if (cause instanceof Object && "ok" in cause) {
    const outcome = cause as Parameters<typeof toDetails>[0];
    const details = [...toDetails(outcome, tokenSource, options.baseUrl), hint];
    await reportError(outcome.error, details, terminal);
    return toExitCode(outcome.error.error);
  }
  const { message = "", exitCode } = toFailure(cause);
  if (options.many.isSilent && exitCode === exitCodes.usage.code) throw cause;
  await terminal.error(`${message}; ${hint}`);
  return exitCode;
}
