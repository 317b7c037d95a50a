/** `plantstore create`: reads plants, checks them, sends them, and prints what came of them. */
import { Refusal } from "../../core/errors.ts";
import { parseNewPlant } from "../../core/plant.ts";
import type { InputRecord } from "../../client/records/input-record.ts";
import { describeWayOn, sayStopCause } from "../create/batch-end.ts";
import { BatchInterruption, CommandError, Interruption } from "../command-error.ts";
import type { CreateOptions, CreateRun } from "../create/run.ts";
import { warnOfEavesdroppers } from "../tokens/eavesdroppers.ts";
import { exitCodes } from "../exit-codes.ts";
import { createFlagInput } from "../create/flag-input.ts";
import { prepareForMany } from "../create/v8-flags.ts";
import { toInputName } from "../input.ts";
import type { Io, StopSignal } from "../io.ts";
import { type LoneContext, printLone } from "../create/lone-answer.ts";
import { type FirstRecords, readFirstRecords } from "../create/lone-record.ts";
import { type PlantSource, toPlantSource } from "../create/plant-source.ts";
import { showWhile } from "../output/progress.ts";
import { openFileInput, type PlacedRecord, type RecordInput } from "../create/record-input.ts";
import { openRejectsFile, RejectsError } from "../create/rejects-file.ts";
import { createReporter } from "../output/reporter.ts";
import { sendRecords } from "../create/send-records.ts";
import { type CreateFlags, resolveManyOptions } from "../settings/create-settings.ts";
import { resolveClientOptions } from "../settings/client-settings.ts";
import { Tally } from "../create/tally.ts";
import { findToken, type FoundToken } from "../tokens/token-source.ts";

/**
 * What the flags and the operands of a command line ask for.
 *
 * @throws CommandError when that is nothing that can be done
 */
export function toCreateOptions(
  flags: CreateFlags,
  paths: readonly string[],
  io: Io,
): CreateOptions {
  const { tokenFile } = flags;
  const source = toPlantSource(flags, paths, tokenFile === "-", io);
  const many = resolveManyOptions(flags, io);
  const isForInputs = many.isMany || many.rejectsPath !== undefined || many.format !== "json";
  if (source.from === "flags" && isForInputs) {
    throw new CommandError(
      "usage",
      "--csv, --tsv, --many, --from-line and --rejects are for files and standard input, not for --id, --name and --tag",
    );
  }
  return { ...resolveClientOptions(flags, io), source, tokenFile, many };
}

/**
 * Creates the plants.
 *
 * @param colorChoice `--color` or `--no-color`, when one was given
 * @returns the exit code, once what came of them is printed
 * @throws CommandError, Interruption, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function create(
  options: CreateOptions,
  io: Io,
  colorChoice: boolean | undefined,
): Promise<number> {
  if (options.source.from === "inputs") await prepareForMany(io);
  const cutOff = new AbortController();
  const lastCall = new AbortController();
  const input = await openInput(options, io, cutOff.signal);
  const run: CreateRun = {
    options,
    io,
    colorChoice,
    reporter: createReporter(io, colorChoice),
    input,
    cutOff: cutOff.signal,
    lastCall: lastCall.signal,
  };
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
    if (refusal !== undefined && (await records.isAlone)) {
      await reject(records.first, run);
      return await printLone(refusal, toLoneContext(run, ""), io, run.reporter);
    }
    const found = await readToken(run);
    await warnOfEavesdroppers(options.baseUrl, run.reporter);
    cutOff.signal.throwIfAborted();
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
  run: CreateRun,
  toStopSignal: () => StopSignal | undefined,
): Promise<number> {
  const { options, io, reporter, input } = run;
  const tally = new Tally(io.nowMs());
  const end = await sendRecords(records, token, tally, run);
  const context = toLoneContext(run, tokenSource);
  if ("alone" in end) return printLone(end.alone, context, io, reporter);

  if (isWatched(run)) await reporter.note(tally.describeEnd(io.nowMs()));
  const place = end.stopped?.firstUntold ?? input.place;
  // It would begin the file of rejects again as well, and end in the same way.
  const canRepeat = !(end.stopped?.cause instanceof RejectsError);
  const wayOn = describeWayOn(place, options.source, canRepeat);
  if (end.stopped !== undefined) return sayStopCause(end.stopped.cause, wayOn, context, reporter);
  const signal = toStopSignal();
  if (signal !== undefined) throw new BatchInterruption(signal, wayOn);
  if (input.isStopped) {
    await reporter.note(`stopped at what was not created (--fail-fast): ${wayOn}`);
  }
  return tally.missing > 0 ? exitCodes.someMissing.code : exitCodes.done.code;
}

async function openInput(
  { source, many: { format, fromLine = 1 } }: CreateOptions,
  io: Io,
  signal: AbortSignal,
): Promise<RecordInput> {
  if (source.from === "flags") return createFlagInput(source.flags);
  return openFileInput({ paths: source.paths, format, fromLine, signal }, io);
}

/** Nobody waits for input without knowing of it. */
async function readFirst({
  options,
  io,
  colorChoice,
  reporter,
  input,
}: CreateRun): Promise<FirstRecords> {
  const { source, many } = options;
  const isMany = many.isMany || (source.from === "inputs" && source.paths.length > 1);
  const read = () => readFirstRecords(input, isMany);
  if (readsStdin(source) && io.stdin.isTTY) {
    await reporter.note("reading a plant as JSON from the terminal: end it with Ctrl-D");
    return read();
  }
  return showWhile(() => "waiting for input", read, io, colorChoice);
}

function readsStdin(source: PlantSource): boolean {
  return source.from === "inputs" && source.paths.includes("-");
}

/** What is wrong with the first record, or that there is none. */
function findRefusal(first: InputRecord | undefined): Refusal | undefined {
  try {
    if (first === undefined) parseNewPlant(new Uint8Array());
    else first.parse();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

async function reject(
  record: PlacedRecord | undefined,
  { options, reporter }: CreateRun,
): Promise<void> {
  const rejects = await openRejectsFile(options, reporter);
  if (record !== undefined) await rejects?.add([record]);
  await rejects?.close();
}

async function readToken({
  options,
  io,
  colorChoice,
  reporter,
  cutOff,
}: CreateRun): Promise<FoundToken> {
  const { tokenFile, baseUrl } = options;
  const read = () => findToken(tokenFile, baseUrl, io, cutOff);
  if (tokenFile === "-" && io.stdin.isTTY) {
    await reporter.note("reading the token from the terminal: end it with Ctrl-D");
    return read();
  }
  return showWhile(() => "waiting for input", read, io, colorChoice);
}

function toLoneContext({ options }: CreateRun, tokenSource: string): LoneContext {
  const { source, baseUrl, many } = options;
  const [path] = source.from === "inputs" ? source.paths : [];
  const place = path === undefined ? undefined : toInputName(path);
  return { place, tokenSource, baseUrl, isQuiet: many.isQuiet };
}

/** Whether a person looks on who did not ask for silence. */
function isWatched({ options, io }: CreateRun): boolean {
  return io.stderr.isTTY === true && !io.env["CI"] && !options.many.isQuiet;
}
