/** Creates the plants of files and of standard input: one, or many. */
import { readNewPlant } from "../../../core/read-body.ts";
import { toDelimiter } from "../../../records/table-reader.ts";
import { UsageError } from "../../command-error.ts";
import { toInputName } from "../../input.ts";
import { createOne } from "./create-one.ts";
import type { CreateRun } from "./create-run.ts";
import { openRecordInput, type PlacedRecord, type RecordInput } from "./record-input.ts";
import { RejectsFile } from "./rejects-file.ts";
import { UnknownMembers } from "./unknown-members.ts";

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
    const { createMany } = await import("./create-many.ts");
    return await createMany({ records: readAll(first, input), input, rejects }, run);
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
  /** True if the input is neither an array nor a table and holds at most one record, which is not skipped. */
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
        isMany ||= input.isCollection || (!done && value.plant === undefined);
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
  return createOne(plant, run, { name, record, rejects });
}
