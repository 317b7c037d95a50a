/** Creates the plants of files and standard input: decides between one and many, shows progress, and says how to resume. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Retry } from "../../../client/create-plant.ts";
import { LocatedError } from "../../../records/located-error.ts";
import { NotAPlantStoreError, StoppedError, UnavailableError } from "../../../client/results.ts";
import { toNextStep } from "../../../core/errors.ts";
import { toShellWord } from "../../../core/messages.ts";
import { readNewPlant } from "../../../core/read-plant.ts";
import { InputSyntaxError } from "../../../records/record-reader.ts";
import { toDelimiter } from "../../../records/table-reader.ts";
import { CommandError, exitCodes, Interruption, UsageError } from "../../command-error.ts";
import {
  describeUnavailable,
  type ErrorContext,
  toCommandError,
  toFailure,
  toResponseError,
} from "../../command-failure.ts";
import { toInputName } from "../../input.ts";
import { OutputError, type StopSignal } from "../../io.ts";
import { createOptions } from "../../options/remote.ts";
import { toCommandLine } from "../../options/values.ts";
import { tracePost } from "../../request-trace.ts";
import { sendOne } from "./create-one.ts";
import { type CreateRun, prepareRequest } from "./create-run.ts";
import {
  openRecordInput,
  type NumberedRecord,
  type RecordInput,
  UnknownMembers,
} from "./record-input.ts";
import { RejectsFile } from "./rejects-file.ts";
import { RecordReport } from "./result-report.ts";

/**
 * Creates the plants of the inputs.
 *
 * @returns the exit code, after the results are printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function sendFromInputs(run: CreateRun): Promise<number> {
  const { options, stopSending, terminal } = run;
  const { rejectsPath, fromLine, paths } = options;
  if (rejectsPath !== undefined && options.delimiter === undefined) assertOneFormat(paths);
  const input = await openRecordInput(run);
  const rejects =
    rejectsPath === undefined
      ? undefined
      : new RejectsFile(rejectsPath, fromLine !== undefined, terminal);
  await rejects?.assertUnused(paths);
  stopSending.addEventListener("abort", input.stop);
  try {
    const first = await readFirst(input, run);
    if (first.isSingle) return await sendSingle(first.records[0], input, rejects, run);
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

/** Names of files that hold any number of plants, also one or none. */
const manyNames = /\.(?:ndjson|jsonl|[ct]sv)$/i;

/** The records that decide between one plant and many. */
interface FirstRecords {
  /** At most two. */
  readonly records: readonly NumberedRecord[];
  /** The error of the input after them. */
  readonly error?: Error;
  /** True for JSON without a name that says otherwise, outside of an array, with at most one record. */
  readonly isSingle: boolean;
}

async function readFirst(
  input: RecordInput,
  { options, terminal, abort }: CreateRun,
): Promise<FirstRecords> {
  const records: NumberedRecord[] = [];
  const read = async (): Promise<FirstRecords> => {
    const [first = "-", ...others] = input.paths;
    let isMany = options.isMany === true || others.length > 0 || manyNames.test(first);
    try {
      do {
        const { done, value } = await input.records.next();
        isMany ||= input.isCollection;
        if (done) return { records, isSingle: !isMany };
        records.push(value);
      } while (!isMany && records.length < 2);
      return { records, isSingle: false };
    } catch (error) {
      if (records.length === 0 || abort.aborted) throw error;
      return { records, error: error as Error, isSingle: false };
    }
  };
  if (input.isTyped) {
    const format = options.delimiter === undefined ? "JSON" : "a table";
    await terminal.note(`reading plants as ${format} from the terminal: end with Ctrl-D`);
    return read();
  }
  const toText = (): string =>
    records.length === 0
      ? "waiting for input"
      : "waiting for more input; with --many, each plant is sent at once";
  return terminal.showWhile(toText, read);
}

async function* readAll(
  { records, error }: FirstRecords,
  input: RecordInput,
): AsyncGenerator<NumberedRecord, void, undefined> {
  yield* records;
  if (error !== undefined) throw error;
  yield* input.records;
}

async function sendSingle(
  record: NumberedRecord | undefined,
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
  return sendOne(run, { plant, details: isNamed ? [] : [`in ${name}`], record, rejects });
}

/** @param rejects opened directly before the first plant is sent or rejected */
async function sendMany(
  records: AsyncIterable<NumberedRecord>,
  input: RecordInput,
  rejects: RejectsFile | undefined,
  run: CreateRun,
): Promise<number> {
  const { options, io, stopSending, terminal } = run;
  const { url, isDryRun, isQuiet, isVerbose, fromLine = 1 } = options;
  const { request, tokenSource } = await prepareRequest(run);
  await rejects?.open();
  const report = new RecordReport(run, rejects);
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
  const { sendPlants } = await import("../../../client/create-plants.ts");
  // undici takes 20 ms to load.
  const { openPool } = await import("../../../client/http-pool.ts");
  const concurrency = isVerbose ? 1 : options.concurrency;
  const pool = openPool(request.url, concurrency, options.timeoutMs, request.ca);
  const outcomes = sendPlants(records, {
    ...options,
    concurrency,
    retries: options.bulkRetries,
    request,
    pool: isVerbose ? { ...pool, post: tracePost(pool.post, terminal) } : pool,
    stopSending,
    stopReading: input.stop,
    onRetry,
  });
  const toText = (): string => {
    if (stopSending.aborted) return "waiting for plants in flight; Ctrl-C again stops at once";
    const { tally, bytesRead } = report;
    const progress = tally.describeProgress(bytesRead, input.totalBytes, io.nowMs());
    return outage ? `${describeUnavailable(outage, url)}, retrying: ${progress}` : progress;
  };
  const work = async (): Promise<void> => {
    for await (const batch of outcomes) {
      if (batch.some(([, result]) => result && result.status !== "failed")) outage = undefined;
      await report.add(batch);
    }
  };
  let failure: unknown;
  try {
    if (!isDryRun) run.inDoubt = "many";
    await (hasProgress ? terminal.showWhile(toText, work) : work());
  } catch (error) {
    if (!isExpected(error, run)) throw error;
    failure = error;
  }
  const isClosed = failure instanceof OutputError && failure.isClosed;
  if (isClosed && run.stoppedBy === undefined) await sleep(signalDelayMs);
  const signal = failure === undefined || isClosed ? run.stoppedBy : undefined;
  const { missing, total } = report.tally;
  const isFailFast = missing > 0 && options.isFailFast === true;
  const isEarly = signal !== undefined || failure !== undefined || isFailFast;
  await report.end(isEarly && total > 0);
  if (isEarly) {
    const { advice, command } = toResume(report, failure, input, run);
    const exitCode = await reportEnd(signal, failure, advice, tokenSource, run);
    if (command !== undefined) await terminal.command(command);
    return exitCode;
  }
  if (total === 0 && !isQuiet) {
    const part = `no record begins at line ${fromLine} or after it (--from-line)`;
    await terminal.warning(fromLine > 1 ? part : "the input has no records");
  }
  return exitCodes[missing === 0 ? "done" : "someMissing"].code;
}

/** Ctrl-C in a pipeline ends the reader of the output too, and its end may be noticed this long before the signal. */
const signalDelayMs = 50;

const expectedErrors = [StoppedError, UnavailableError, NotAPlantStoreError, OutputError];

/** Checks for a failure after which the user can resume the run. */
function isExpected(error: unknown, { abort }: CreateRun): boolean {
  if (expectedErrors.some((type) => error instanceof type)) return true;
  return error instanceof CommandError && !abort.aborted;
}

/**
 * How to resume the run: the end of a sentence, and the command line unless no record has a result. With a file of rejects,
 * only records that it lacks are sent again.
 */
function toResume(
  { resumeAt, tally }: RecordReport,
  failure: unknown,
  { position, paths }: RecordInput,
  { options, flags }: CreateRun,
): { readonly advice: string; readonly command?: string } {
  let correct = "";
  if (failure instanceof CommandError && failure.cause instanceof InputSyntaxError) {
    correct = "correct the input, then ";
  } else if (failure instanceof StoppedError && hasRejectedToken(failure)) {
    correct = "replace the token, then ";
  }
  if (tally.total === 0) return { advice: `${correct}run the same command again` };
  const { rejectsPath } = options;
  const isChanged = rejectsPath !== undefined && tally.missing > 0;
  const toNote = (verb: string): string => (isChanged ? ` (${verb} ${rejectsPath})` : "");
  const { path, line } = resumeAt ?? position;
  const how = path === "-" ? "the command below and the same input" : "the command below";
  const advice = `${correct}resume with ${how}${toNote("extends")}, or repeat the whole run${toNote("replaces")}`;
  const command = toCommandLine("create", createOptions, { ...flags, fromLine: `${line}` });
  const rest = paths.slice(paths.indexOf(path));
  return { advice, command: [command, ...rest.map(toShellWord)].join(" ") };
}

function hasRejectedToken({ cause }: StoppedError): boolean {
  return toNextStep(cause.error.error) === "token";
}

/** Reports why a run ended early. @returns the exit code */
async function reportEnd(
  signal: StopSignal | undefined,
  failure: unknown,
  advice: string,
  tokenSource: string,
  run: CreateRun,
): Promise<number> {
  const { options, terminal } = run;
  if (signal === undefined && failure === undefined) {
    const reason = "stopped at the first rejected or failed record (--fail-fast)";
    await terminal.note(`${reason}: ${advice}`);
    return exitCodes.someMissing.code;
  }
  const context = { url: options.url, source: run, tokenSource };
  const { message, number, exitCode } = signal
    ? new Interruption(signal, advice)
    : toEndError(failure, advice, context);
  await terminal.error(message, number);
  return exitCode;
}

function toEndError(failure: unknown, advice: string, context: ErrorContext): CommandError {
  if (failure instanceof StoppedError) return toResponseError(failure.cause, context, [advice]);
  // The advice says that the command can be repeated.
  const doubt = "the plant may or may not exist";
  const { exit, message } = toFailure(toCommandError(failure, context.source, doubt));
  return new CommandError(exit, `${message}; ${advice}`, { cause: failure });
}
