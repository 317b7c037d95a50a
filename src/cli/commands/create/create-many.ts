/** Creates the plants of files and standard input: decides between one and many, shows progress, and says how to resume. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Retry } from "../../../client/create-plant.ts";
import { LocatedError } from "../../../records/json-place.ts";
import { StoppedError, UnavailableError } from "../../../client/results.ts";
import { readNewPlant } from "../../../core/read-plant.ts";
import { InputSyntaxError } from "../../../records/record-reader.ts";
import { toDelimiter } from "../../../records/table-reader.ts";
import { CommandError, exitCodes, Interruption, UsageError } from "../../command-error.ts";
import { toAdvice, toExitCode, toFailure } from "../../command-failure.ts";
import { toInputName } from "../../input.ts";
import { OutputError } from "../../io.ts";
import { tracePost } from "../../request-trace.ts";
import { createOne } from "./create-one.ts";
import { type CreateRun, findTokenToSend, toRequest } from "./create-run.ts";
import { describeUnavailable, reportError, toDetails } from "./failure-messages.ts";
import {
  openRecordInput,
  type PlacedRecord,
  type RecordInput,
  UnknownMembers,
} from "./record-input.ts";
import { RejectsFile } from "./rejects-file.ts";
import { RecordReport } from "./result-report.ts";

/**
 * Creates the plants.
 *
 * @param paths at least one; `-` is standard input
 * @returns the exit code, after the results are printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function createFromInputs(paths: readonly string[], run: CreateRun): Promise<number> {
  const { options, lastCall, terminal } = run;
  const { rejectsPath, fromLine } = options;
  if (rejectsPath !== undefined && options.delimiter === undefined) assertOneFormat(paths);
  const input = await openRecordInput(paths, run);
  const rejects =
    rejectsPath === undefined
      ? undefined
      : new RejectsFile(rejectsPath, fromLine !== undefined, terminal);
  await rejects?.assertUnused(paths);
  lastCall.addEventListener("abort", input.stop);
  try {
    const first = await readFirst(input, run);
    if (first.isSingle) return await createSingle(first.records[0], input, rejects, run);
    // With undici, which takes 20 ms to load.
    return await sendMany(readAll(first, input), input, rejects, run);
  } finally {
    input.stop();
    await rejects?.close();
  }
}

/** The file of rejects has the bytes of the records, and can be read again only as one format. @throws UsageError */
function assertOneFormat(paths: readonly string[]): void {
  if (new Set(paths.map(toDelimiter)).size < 2) return;
  throw new UsageError("--rejects is for inputs of one format: run create for each format");
}

/** The records that decide between one plant and many. */
interface FirstRecords {
  /** At most two. */
  readonly records: readonly PlacedRecord[];
  /** The error of the input after them. */
  readonly error?: Error;
  /** True if the input is neither an array nor a table and holds at most one record. */
  readonly isSingle: boolean;
}

async function readFirst(
  input: RecordInput,
  { options, terminal, cutOff }: CreateRun,
): Promise<FirstRecords> {
  const records: PlacedRecord[] = [];
  const read = async (): Promise<FirstRecords> => {
    let isMany = options.isMany === true || input.paths.length > 1;
    try {
      do {
        const { done, value } = await input.records.next();
        isMany ||= input.isCollection;
        if (done) return { records, isSingle: !isMany };
        records.push(value);
      } while (!isMany && records.length < 2);
      return { records, isSingle: false };
    } catch (error) {
      if (records.length === 0 || cutOff.aborted) throw error;
      return { records, error: error as Error, isSingle: false };
    }
  };
  if (input.isTyped) {
    await terminal.note("reading plants as JSON from the terminal: end with Ctrl-D");
    return read();
  }
  const toText = (): string =>
    records.length === 0
      ? "waiting for input"
      : "waiting for more input; with --many, each plant is sent at once";
  return terminal.showWhile(toText, read);
}

/** Returns the first records again, then the others. */
async function* readAll(
  { records, error }: FirstRecords,
  input: RecordInput,
): AsyncGenerator<PlacedRecord, void, undefined> {
  yield* records;
  if (error !== undefined) throw error;
  yield* input.records;
}

async function createSingle(
  record: PlacedRecord | undefined,
  { paths }: RecordInput,
  rejects: RejectsFile | undefined,
  run: CreateRun,
): Promise<number> {
  const name = toInputName(paths[0] ?? "-");
  const { isQuiet, isStrict } = run.options;
  if (record && !isQuiet && !isStrict) {
    for (const warning of new UnknownMembers().add(record)) await run.terminal.warning(warning);
  }
  const plant = record?.plant ?? readNewPlant(new Uint8Array());
  const isNamed = plant instanceof LocatedError;
  return createOne(plant, run, { details: isNamed ? [] : [`in ${name}`], record, rejects });
}

/**
 * Creates the plants.
 *
 * @param input the inputs that the records come from
 * @param rejects opened directly before the first plant is sent or rejected
 * @returns the exit code, after the results are printed
 * @throws CommandError, OutputError
 */
async function sendMany(
  records: AsyncIterable<PlacedRecord>,
  input: RecordInput,
  rejects: RejectsFile | undefined,
  run: CreateRun,
): Promise<number> {
  const { options, io, lastCall, terminal } = run;
  const { url, isDryRun, isFailFast, isQuiet, isVerbose, fromLine = 1 } = options;
  const found = isDryRun ? undefined : await findTokenToSend(run);
  await rejects?.open();
  const report = new RecordReport(run, input.paths.length > 1, rejects);
  /** The store was unavailable at the last attempt. All plants in flight see the same outage. */
  let outage: Retry | undefined;
  const needsProgress = !isQuiet && !isVerbose;
  const hasProgress = needsProgress && !input.isTyped && !io.isPiped && terminal.showsProgress;
  let needsWarning = needsProgress && !hasProgress;
  const onRetry = (retry: Retry): void => {
    outage = retry;
    if (needsWarning) void terminal.warning(`${describeUnavailable(retry, url)}, retrying`);
    needsWarning = false;
  };
  const { createPlants } = await import("../../../client/create-plants.ts");
  // undici takes 20 ms to load.
  const { openPool } = await import("../../../client/http-pool.ts");
  const request = toRequest(found?.token, run);
  const pool = openPool(request.url, options.concurrency, options.timeoutMs, request.ca);
  const outcomes = createPlants(records, {
    ...options,
    retries: options.bulkRetries,
    request,
    pool: isVerbose ? { ...pool, post: tracePost(pool.post, terminal) } : pool,
    lastCall,
    stopReading: input.stop,
    onRetry,
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
    await (hasProgress ? terminal.showWhile(toText, work) : work(() => {}));
  } catch (error) {
    if (!isExpected(error, run)) throw error;
    failure = error;
  }
  const isClosed = failure instanceof OutputError && failure.isClosed;
  if (isClosed && run.stoppedBy === undefined) await sleep(signalDelayMs);
  await report.end();
  const hint = describeResume(report, failure, input, run);
  if (run.stoppedBy !== undefined && (failure === undefined || isClosed)) {
    throw new Interruption(run.stoppedBy, hint);
  }
  if (failure !== undefined) return reportFailure(failure, hint, found?.source ?? "", run);
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

/** Ctrl-C in a pipeline ends the reader of the output too, and its end may be noticed this long before the signal. */
const signalDelayMs = 50;

/** Checks for a failure after which the user can resume the run. */
function isExpected(error: unknown, { cutOff }: CreateRun): boolean {
  if (error instanceof StoppedError || error instanceof OutputError) return true;
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
  const { message = "the output was closed", exitCode } = toFailure(cause);
  const isUnavailable = cause instanceof UnavailableError;
  // The hint says that the command can be repeated.
  const reason = isUnavailable ? toAdvice(cause, "the plant may or may not exist") : message;
  await terminal.error(`${reason}; ${hint}`);
  return exitCode;
}
