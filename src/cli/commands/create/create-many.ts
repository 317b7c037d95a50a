/** Creates many plants, and reports the records, the progress, the summary and how to resume. */
import { UnavailableError } from "../../../client/client-error.ts";
import type { Retry } from "../../../client/send-plant.ts";
import { createPlants } from "../../../client/create-plants.ts";
import type { Post } from "../../../client/http/message.ts";
import { StoppedError } from "../../../client/stopped-error.ts";
import { InputSyntaxError } from "../../../records/record.ts";
import { CommandError, Interruption } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { toAdvice, toExitCode, toFailure } from "../../command-failure.ts";
import { toInputName } from "../../input.ts";
import { OutputError } from "../../io.ts";
import { tracePost } from "../../request-trace.ts";
import type { PlacedRecord, RecordInput } from "./record-input.ts";
import type { RejectsFile } from "./rejects-file.ts";
import { RecordReport } from "./report.ts";
import {
  type CreateRun,
  describeUnavailable,
  findTokenToSend,
  reportError,
  toDetails,
  toRequest,
} from "./create-run.ts";

/** The input of many plants. */
interface BulkInput {
  readonly records: AsyncIterable<PlacedRecord>;
  /** The inputs that the records come from. */
  readonly input: RecordInput;
  /** Opened directly before the first plant is sent or rejected. */
  readonly rejects: RejectsFile | undefined;
}

/**
 * Creates the plants.
 *
 * @returns the exit code, after the results are printed
 * @throws CommandError, OutputError
 */
export async function createMany(
  { records, input, rejects }: BulkInput,
  run: CreateRun,
): Promise<number> {
  const { options, io, lastCall, terminal } = run;
  const { url, isDryRun, isFailFast, isQuiet, isVerbose, fromLine = 1 } = options;
  const found = isDryRun ? undefined : await findTokenToSend(run);
  await rejects?.open();
  const report = new RecordReport(run, input.paths.length > 1, rejects);
  /** The store was unavailable at the last attempt. All plants in flight see the same outage. */
  let outage: Retry | undefined;
  const outcomes = createPlants(records, {
    ...options,
    retries: options.bulkRetries,
    request: toRequest(found?.token, run),
    lastCall,
    stopReading: input.stop,
    onRetry: (retry) => (outage = retry),
    ...(isVerbose && { wrapPost: (post: Post) => tracePost(post, terminal) }),
  });
  const toText = (): string => {
    if (lastCall.aborted) return "waiting for plants in flight; Ctrl-C again stops at once";
    const { tally, bytesRead } = report;
    const progress = tally.describeProgress(bytesRead, input.totalBytes, io.nowMs());
    return outage ? `${describeUnavailable(outage, url)}, retrying: ${progress}` : progress;
  };
  const work = async (clear: () => void): Promise<void> => {
    report.clearProgress = clear;
    for await (const batch of outcomes) {
      if (batch.some(({ result }) => result && result.status !== "failed")) outage = undefined;
      await report.add(batch);
    }
  };
  let failure: unknown;
  try {
    if (!isDryRun) run.sends = "many";
    const hasProgress = !isQuiet && !isVerbose && !input.isTyped && !io.isPiped;
    await (hasProgress ? terminal.showWhile(toText, work) : work(() => {}));
  } catch (error) {
    if (!isExpected(error, run)) throw error;
    failure = error;
  }
  await report.end();
  const hint = describeResume(report, failure, input, run);
  if (failure !== undefined) return reportFailure(failure, hint, found?.source ?? "", run);
  if (run.stoppedBy !== undefined) throw new Interruption(run.stoppedBy, hint);
  if (report.tally.total === 0 && !isQuiet) {
    const part = `no record begins at line ${fromLine} or after it (--from-line)`;
    await terminal.warning(fromLine > 1 ? part : "the input has no records");
  }
  if (report.tally.missing === 0) return exitCodes.done.code;
  if (isFailFast) {
    await terminal.note(`stopped at the first rejected or failed record (--fail-fast): ${hint}`);
  }
  return exitCodes.someMissing.code;
}

/** Checks for a failure after which the user can resume the run. */
function isExpected(error: unknown, { cutOff }: CreateRun): boolean {
  if (error instanceof StoppedError) return true;
  if (error instanceof OutputError) return !error.isClosed;
  return error instanceof CommandError && !cutOff.aborted;
}

/** Describes how to resume the run. With a file of rejects, only records that it lacks are sent again. */
function describeResume(
  { resumeAt, tally }: RecordReport,
  failure: unknown,
  { place, paths }: RecordInput,
  { options }: CreateRun,
): string {
  const { path, line } = resumeAt ?? place;
  const isSyntax = failure instanceof CommandError && failure.cause instanceof InputSyntaxError;
  const correct = isSyntax ? "correct the input, then " : "";
  const inputs = paths.length > 1 ? ` and the inputs from ${toInputName(path)} on` : "";
  const { rejectsPath } = options;
  const isChanged = rejectsPath !== undefined && tally.missing > 0;
  const toNote = (verb: string): string => (isChanged ? ` (${verb} ${rejectsPath})` : "");
  return `${correct}resume with --from-line ${line}${inputs}${toNote("extends")}, or repeat the same command${toNote("replaces")}`;
}

async function reportFailure(
  failure: unknown,
  hint: string,
  tokenSource: string,
  { options, terminal }: CreateRun,
): Promise<number> {
  const cause = failure instanceof StoppedError ? failure.cause : failure;
  if (cause instanceof Object && "ok" in cause) {
    const response = cause as Parameters<typeof toDetails>[0];
    const details = [...toDetails(response, tokenSource, options.url), hint];
    await reportError(response.error, details, terminal);
    return toExitCode(response.error.error);
  }
  const { message = "", exitCode } = toFailure(cause);
  const isUnavailable = cause instanceof UnavailableError;
  // The hint says that the command can be repeated.
  const reason = isUnavailable ? toAdvice(cause, "the plant may or may not exist") : message;
  await terminal.error(`${reason}; ${hint}`);
  return exitCode;
}
