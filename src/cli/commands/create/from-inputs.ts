/** Creates the plants of files and of standard input: one, or many. */
import { readNewPlant } from "../../../core/read-body.ts";
import { toDelimiter } from "../../../records/table-reader.ts";
import { UsageError } from "../../command-error.ts";
import { toInputName } from "../../input.ts";
import { createOne } from "./create-one.ts";
import type { CreateRun, ManyRun } from "./create-options.ts";
import { openRecordInput, type PlacedRecord, type RecordInput } from "./record-input.ts";
import { RejectsFile } from "./rejects-file.ts";
import { toStopError } from "./request.ts";
import { UnknownMembers } from "./unknown-members.ts";

/**
 * Creates the plants.
 *
 * @param paths at least one; `-` is standard input
 * @returns the exit code, after the results are printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function createFromInputs(paths: readonly string[], base: CreateRun): Promise<number> {
  const { options, io, cutOff, terminal } = base;
  const { rejectsPath, fromLine } = options;
  if (rejectsPath !== undefined && options.delimiter === undefined) assertOneFormat(paths);
  const input = await openRecordInput(paths, base);
  const rejects =
    rejectsPath === undefined
      ? undefined
      : new RejectsFile(rejectsPath, fromLine !== undefined, terminal);
  await rejects?.assertUnused(paths);
  const lastCall = new AbortController();
  let isMany = false;
  const run: ManyRun = {
    ...base,
    paths,
    input,
    rejects,
    isTyped: paths.includes("-") && io.stdin.isTTY === true,
    lastCall: lastCall.signal,
    stoppedBy: undefined,
  };
  const releaseSignals = io.onSignal((name) => {
    if (isMany && run.isSent) {
      run.stoppedBy = name;
      lastCall.abort();
      input.stop();
    } else {
      cutOff.abort(toStopError(name, run.isSent));
    }
  });
  try {
    const { first, isSingle } = await readFirst(run);
    if (isSingle) return await createSingle(first, run);
    if (options.printsCurl) {
      throw new UsageError("--print-curl is for a single plant: pass one, or remove the flag");
    }
    isMany = true;
    // With undici, which takes 20 ms to load.
    const { createMany } = await import("./create-many.ts");
    return await createMany(readAll(first, input), run);
  } finally {
    input.stop();
    releaseSignals();
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
  /** At most two records, then the end or an error of the input if it comes before them. */
  readonly first: readonly Promise<IteratorResult<PlacedRecord, void>>[];
  /** True if the input is neither an array nor a table and holds at most one record, which is not skipped. */
  readonly isSingle: boolean;
}

async function readFirst(run: ManyRun): Promise<FirstRecords> {
  const { options, terminal, paths, input, cutOff } = run;
  const first: Promise<IteratorResult<PlacedRecord, void>>[] = [];
  const read = async (): Promise<FirstRecords> => {
    let isMany = options.isMany === true || paths.length > 1;
    for (;;) {
      const next = input.records.next();
      first.push(next);
      try {
        const { done, value } = await next;
        const isSkipped = value !== undefined && value.plant === undefined;
        isMany ||= input.isCollection || isSkipped;
        if (done) return { first, isSingle: !isMany };
      } catch (error) {
        if (first.length === 1 || cutOff.signal.aborted) throw error;
        isMany = true;
      }
      if (isMany || first.length === 2) return { first, isSingle: false };
    }
  };
  if (run.isTyped) {
    await terminal.note("reading plants as JSON from the terminal: end with Ctrl-D");
    return read();
  }
  const toText = (): string =>
    first.length === 1
      ? "waiting for input"
      : "waiting for more input; with --many, each plant is sent at once";
  return terminal.showWhile(toText, read);
}

/** Returns the first records again, then the others. */
function readAll(
  first: FirstRecords["first"],
  { records }: RecordInput,
): AsyncIterable<PlacedRecord> {
  const again = first.values();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => again.next().value ?? records.next(),
      return: () => records.return(),
    }),
  };
}

async function createSingle(first: FirstRecords["first"], run: ManyRun): Promise<number> {
  const name = toInputName(run.paths[0] ?? "-");
  const record = (await first[0])?.value ?? undefined;
  const { isQuiet, isStrict } = run.options;
  if (record && !isQuiet && !isStrict) {
    for (const warning of new UnknownMembers().add(record)) await run.terminal.warning(warning);
  }
  const plant = record?.plant ?? readNewPlant(new Uint8Array());
  return createOne(plant, run, { name, record, rejects: run.rejects });
}
