/** Creates the plants of files and of the standard input: reads them, checks them, sends them, and prints what came of them. */
import { errorTable, RequestError } from "../../core/errors.ts";
import { parseNewPlant } from "../../core/plant.ts";
import type { InputRecord } from "../../client/records/input-record.ts";
import { BatchInterruption, CommandError, Interruption } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { toInputName } from "../input.ts";
import type { StopSignal } from "../io.ts";
import { showWhile } from "../output/progress.ts";
import type { InputFormat } from "../settings/create-settings.ts";
import type { FoundToken } from "../tokens/token-source.ts";
import { describeWayOn, sayStopCause } from "./batch-end.ts";
import { type LoneContext, printLone } from "./lone-answer.ts";
import { type FirstRecords, readFirstRecords } from "./lone-record.ts";
import { openFileInput, type PlacedRecord } from "./record-input.ts";
import { openRejectsFile, RejectsError } from "./rejects-file.ts";
import { findTokenToSend } from "./request-token.ts";
import type { CreateRun, InputRun } from "./run.ts";
import { sendRecords } from "./send-records.ts";
import { Tally } from "./tally.ts";
import { prepareForMany } from "./v8-flags.ts";

/**
 * Creates them.
 *
 * @param paths at least one; `-` is the standard input
 * @returns the exit code, once what came of them is printed
 * @throws CommandError, Interruption, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function createFromInputs(
  paths: readonly string[],
  given: CreateRun,
): Promise<number> {
  const { options, io, reporter, cutOff } = given;
  await prepareForMany(io);
  const { format, fromLine = 1 } = options.many;
  const input = await openFileInput({ paths, format, fromLine, signal: cutOff.signal }, io);
  const lastCall = new AbortController();
  const run: InputRun = { ...given, paths, input, lastCall: lastCall.signal };
  let sent: FirstRecords | undefined;
  let stoppedBy: StopSignal | undefined;
  const releaseSignals = io.onSignal((name) => {
    const isOfMany = sent !== undefined && !sent.isKnownAlone();
    if (!isOfMany) {
      cutOff.abort(new Interruption(name, sent !== undefined));
      return;
    }
    stoppedBy = name;
    lastCall.abort();
    input.stop();
  });
  try {
    const records = await readFirst(run);
    const refusal = findRefusal(records.first);
    refuseTable(records.first, refusal, options.many.format);
    if (refusal !== undefined && (await records.isAlone)) {
      await reject(records.first, run);
      return await printLone(refusal, toLoneContext(run, ""), io, reporter);
    }
    const found = await findTokenToSend(run);
    sent = records;
    return await send(records, found, run, () => stoppedBy);
  } finally {
    input.stop();
    releaseSignals();
  }
}

async function send(
  records: FirstRecords,
  { token, source: tokenSource }: FoundToken,
  run: InputRun,
  toStopSignal: () => StopSignal | undefined,
): Promise<number> {
  const { io, reporter, input, paths } = run;
  const tally = new Tally(io.nowMs());
  const end = await sendRecords(records, token, tally, run);
  const context = toLoneContext(run, tokenSource);
  if ("alone" in end) return printLone(end.alone, context, io, reporter);

  if (isWatched(run)) await reporter.note(tally.describeEnd(io.nowMs()));
  const isOfRejects = end.stopped?.cause instanceof RejectsError;
  // The file of rejects has what failed; without one it is passed over no more than what was not told.
  const { rejectsPath } = run.options.many;
  const lost = rejectsPath === undefined ? tally.firstFailed : undefined;
  const wayOn = describeWayOn({
    place: lost ?? end.stopped?.firstUntold ?? input.place,
    paths,
    rejectsPath: tally.missing > 0 && !isOfRejects ? rejectsPath : undefined,
    // It would begin the file of rejects again as well, and end in the same way.
    canRepeat: !isOfRejects,
  });
  if (end.stopped !== undefined) return sayStopCause(end.stopped.cause, wayOn, context, reporter);
  const signal = toStopSignal();
  if (signal !== undefined) throw new BatchInterruption(signal, wayOn);
  if (input.isStopped) {
    await reporter.note(`stopped at what was not created (--fail-fast): ${wayOn}`);
  }
  return tally.missing > 0 ? exitCodes.someMissing.code : exitCodes.done.code;
}

/** Nobody waits for input without knowing of it. */
async function readFirst({
  options,
  io,
  colorChoice,
  reporter,
  input,
  paths,
}: InputRun): Promise<FirstRecords> {
  const isMany = options.many.isMany || paths.length > 1;
  const read = () => readFirstRecords(input, isMany);
  if (paths.includes("-") && io.stdin.isTTY) {
    await reporter.note("reading a plant as JSON from the terminal: end it with Ctrl-D");
    return read();
  }
  return showWhile(() => "waiting for input", read, io, colorChoice);
}

/** What is wrong with the first record, or that there is none. */
function findRefusal(first: InputRecord | undefined): RequestError | undefined {
  try {
    if (first === undefined) parseNewPlant(new Uint8Array());
    else first.parse();
    return undefined;
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

/** @throws CommandError for a table that is read as JSON: none of its rows would be a plant */
function refuseTable(
  first: PlacedRecord | undefined,
  refusal: RequestError | undefined,
  format: InputFormat,
): void {
  if (first === undefined || refusal?.error !== errorTable.notJson.error) return;
  const [, extension] = /\.([ct]sv)$/i.exec(first.path) ?? [];
  if (extension === undefined || format !== "json") return;
  const flag = `--${extension.toLowerCase()}`;
  throw new CommandError(
    "usage",
    `${toInputName(first.path)} is not JSON: give ${flag} for a table`,
  );
}

async function reject(record: PlacedRecord | undefined, run: InputRun): Promise<void> {
  const rejects = await openRejectsFile(run);
  if (record !== undefined) await rejects?.add([record]);
  await rejects?.close();
}

function toLoneContext({ options, paths }: InputRun, tokenSource: string): LoneContext {
  const [path = "-"] = paths;
  const { baseUrl, many } = options;
  return { place: toInputName(path), tokenSource, baseUrl, isQuiet: many.isQuiet };
}

/** Whether a person looks on who did not ask for silence. */
function isWatched({ options, io }: InputRun): boolean {
  return io.stderr.isTTY === true && !io.env["CI"] && !options.many.isQuiet;
}
