/** Creates the plants of files and standard input, shows progress, and says how to resume. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CreateRequest, Retry } from "../../../client/create-plant.ts";
import { sendPlants } from "../../../client/create-plants.ts";
import { openLate } from "../../../client/http-request.ts";
import {
  isSendable,
  NotAPlantStoreError,
  StoppedError,
  toItemResult,
  toLocalResult,
  UnavailableError,
} from "../../../client/results.ts";
import { toNextStep } from "../../../core/errors.ts";
import { toInputName, toShellWord } from "../../../core/messages.ts";
import { readNewPlant } from "../../../core/read-plant.ts";
import { InputSyntaxError } from "../../../records/record-reader.ts";
import { toDelimiter } from "../../../records/table-reader.ts";
import {
  adviseCommand,
  CommandError,
  createDoubt,
  exitCodes,
  Interruption,
  toExitName,
  UsageError,
} from "../../command-error.ts";
import {
  describeUnavailable,
  toCommandError,
  toCommandFailure,
  toResponseError,
} from "../../command-failure.ts";
import type { TokenOrigin } from "../../config/saved-tokens.ts";
import { OutputError, type StopSignal } from "../../io.ts";
import { createOptions } from "../../options/remote.ts";
import { toCommandLine } from "../../options/values.ts";
import { selectPost } from "../../server-access.ts";
import { printOne } from "./create-one.ts";
import { type CreateRun, prepareRequest } from "./create-run.ts";
import { openRecordInput, type RecordInput } from "./record-input.ts";
import { RejectsFile } from "./rejects-file.ts";
import { RecordReport } from "./result-report.ts";

/** How a run ended. */
interface End {
  readonly signal: StopSignal | undefined;
  /** Undefined if all records were sent, or until the signal. */
  readonly failure: Error | undefined;
  readonly isFailFast: boolean;
}

/** @returns the exit code, once the results are printed. @throws UnavailableError, NotAPlantStoreError, OutputError */
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
  const { request, token } = await prepareRequest(run);
  // After the token is found: without one, the file of an earlier run stays as it is.
  await rejects?.prepare();
  const report = new RecordReport(run, input, rejects);
  stopSending.addEventListener("abort", input.stop);
  try {
    const end = await sendAll(input, report, request, run);
    if (input.count === 0) assertUninterrupted(end);
    const finish = input.isMany ? endMany : endOne;
    return await finish(end, input, report, token, run);
  } finally {
    input.stop();
    await rejects?.close();
  }
}

/** The file of rejects has the bytes of the records, and can be read again only as one format. */
function assertOneFormat(paths: readonly string[]): void {
  if (new Set(paths.map(toDelimiter)).size < 2) return;
  throw new UsageError("--rejects is for inputs of one format: run create for each format");
}

async function sendAll(
  input: RecordInput,
  report: RecordReport,
  request: CreateRequest,
  run: CreateRun,
): Promise<End> {
  const { options, io, stopSending, terminal } = run;
  const { url, isDryRun, isQuiet, isVerbose, timeoutMs } = options;
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
  const concurrency = isVerbose ? 1 : options.concurrency;
  const pool = openLate(async () => {
    const { openPool } = await import("../../../client/http-pool.ts");
    return openPool(request.url, concurrency, timeoutMs, request.ca);
  });
  const outcomes = sendPlants(input.records, {
    ...options,
    concurrency,
    retries: options.bulkRetries,
    request,
    pool: { ...pool, post: await selectPost(options, terminal, pool.post) },
    stopSending,
    stopReading: input.stop,
    onRetry,
  });
  const describeWork = (): string => {
    if (stopSending.aborted) return "waiting for plants in flight; Ctrl-C again stops at once";
    if (input.count === 0) return "waiting for input";
    const { tally, bytesRead } = report;
    const progress = tally.describeProgress(bytesRead, input.totalBytes, io.nowMs());
    return outage ? `${describeUnavailable(outage, url)}, retrying: ${progress}` : progress;
  };
  let failure: Error | undefined;
  const work = async (): Promise<void> => {
    for await (const batch of outcomes) {
      if (batch.some(([, result]) => result && result.status !== "failed")) outage = undefined;
      report.count(batch);
      if (failure !== undefined) continue;
      try {
        await report.print(batch);
      } catch (error) {
        failure = error as Error;
        run.endSending();
      }
    }
    if (failure === undefined && input.isMany) await report.printHeld();
  };
  if (input.isTyped) {
    const format = options.delimiter === undefined ? "JSON" : "a table";
    await terminal.note(`reading plants as ${format} from the terminal: end with Ctrl-D`);
  }
  try {
    if (!isDryRun) run.inDoubt = "many";
    await (hasProgress ? terminal.showWhile(describeWork, work) : work());
  } catch (error) {
    if (!isExpected(error, run)) throw error;
    failure ??= error as Error;
    if (input.isMany && !(error instanceof OutputError)) await report.printHeld();
  }
  const isClosed = failure instanceof OutputError && failure.isClosed;
  if (isClosed && run.stoppedBy === undefined) await sleep(signalDelayMs);
  const signal = failure === undefined || isClosed ? run.stoppedBy : undefined;
  const isFailFast = report.tally.missing > 0 && options.isFailFast === true;
  return { signal, failure, isFailFast };
}

/** Ctrl-C in a pipeline ends the reader of the output too, and its end may be noticed this long before the signal. */
const signalDelayMs = 50;

const expectedErrors = [StoppedError, UnavailableError, NotAPlantStoreError, OutputError];

/** Checks for a failure after which the user can resume the run. */
function isExpected(error: unknown, { abort }: CreateRun): boolean {
  if (expectedErrors.some((type) => error instanceof type)) return true;
  return error instanceof CommandError && !abort.aborted;
}

/** @throws what ended the input before its first record */
function assertUninterrupted({ signal, failure }: End): void {
  if (failure !== undefined) throw failure;
  if (signal === undefined) return;
  throw new CommandError(toExitName(signal), `stopped by ${signal} before anything was sent`);
}

/** Prints the Plant or the Error of one plant. */
async function endOne(
  { signal, failure }: End,
  input: RecordInput,
  report: RecordReport,
  token: TokenOrigin | undefined,
  run: CreateRun,
): Promise<number> {
  if (failure !== undefined && !(failure instanceof StoppedError)) throw failure;
  const [[record, result] = []] = report.held;
  const response = failure?.cause;
  const known = record === undefined ? toLocalResult(readNewPlant(new Uint8Array())) : result;
  const reported = response === undefined ? known : toItemResult(response);
  if (reported === undefined) {
    throw new Interruption(signal ?? "SIGINT", createDoubt);
  }
  if (record !== undefined) await report.warn(record);
  const isSent = record !== undefined && isSendable(record.plant);
  const details = isSent ? [] : [`in ${toInputName(input.paths[0] ?? "-")}`];
  const context = { id: record?.content.id, token, response, details };
  const exitCode = await printOne(reported, context, run);
  if (signal !== undefined) throw new Interruption(signal);
  return exitCode;
}

/** Prints how a run of records ended. */
async function endMany(
  end: End,
  input: RecordInput,
  report: RecordReport,
  token: TokenOrigin | undefined,
  run: CreateRun,
): Promise<number> {
  const { options, terminal } = run;
  const { signal, failure, isFailFast } = end;
  const isEarly = signal !== undefined || failure !== undefined || isFailFast;
  await report.end(isEarly);
  if (!isEarly) {
    if (input.count === 0 && !options.isQuiet) {
      const { fromLine = 1 } = options;
      const part = `no record begins at line ${fromLine} or after it (--from-line)`;
      await terminal.warning(fromLine > 1 ? part : "the input has no records");
    }
    return exitCodes[report.tally.missing === 0 ? "done" : "someMissing"].code;
  }
  const { message, number, exitCode, hints } = toEndError(end, token, run);
  await (isFailFast && exitCode === exitCodes.someMissing.code
    ? terminal.note(message)
    : terminal.error(message, number));
  await terminal.note(...hints);
  await adviseResuming(end, input, report, run, hints.length > 0);
  return exitCode;
}

function toEndError(
  { signal, failure }: End,
  token: TokenOrigin | undefined,
  run: CreateRun,
): CommandError {
  if (signal !== undefined) return new Interruption(signal);
  if (failure === undefined) {
    const message = "stopped at the first rejected or failed record (--fail-fast)";
    return new CommandError("someMissing", message);
  }
  if (failure instanceof StoppedError) {
    return toResponseError(failure.cause, { url: run.options.url, source: run, token });
  }
  return toCommandFailure(toCommandError(failure, run, "the plant may or may not exist"));
}

/**
 * Says how to resume the run. The command line is the same one if no record has a result. With a file of rejects, only
 * records that it lacks are sent again.
 */
async function adviseResuming(
  { failure, isFailFast }: End,
  { position, paths }: RecordInput,
  { resumeAt, rejectedAt, tally }: RecordReport,
  { options, flags, terminal }: CreateRun,
  isLoginAdvised: boolean,
): Promise<void> {
  const { rejectsPath } = options;
  const { path, line } = resumeAt ?? position;
  let before = "";
  if (failure instanceof CommandError && failure.cause instanceof InputSyntaxError) {
    if (failure.hints.length > 0 && tally.total === 0) return;
    before = "correct the input, then ";
  } else if (failure instanceof StoppedError && hasRejectedToken(failure) && !isLoginAdvised) {
    before = "replace the token, then ";
  } else if (isFailFast && rejectsPath === undefined && rejectedAt === line) {
    before = `correct line ${line}, then `;
  }
  const isNew = tally.total === 0;
  const verb = isNew ? "repeat the run" : "resume";
  const same = path === "-" ? " with the same input" : "";
  const isExtended = rejectsPath !== undefined && tally.missing > 0;
  const also = isExtended ? `, and add to ${rejectsPath}` : "";
  const command = toCommandLine("create", createOptions, {
    ...flags,
    ...(!isNew && { fromLine: `${line}` }),
  });
  const rest = paths.slice(paths.indexOf(path));
  const resume = [command, ...rest.map(toShellWord)].join(" ");
  await terminal.note(...adviseCommand(capitalize(`${before}${verb}${same}${also}`), resume));
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function hasRejectedToken({ cause }: StoppedError): boolean {
  return toNextStep(cause.error.error) === "token";
}
