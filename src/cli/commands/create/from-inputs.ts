/** Creates the plants of files and of standard input: one, or many. */
import { readNewPlant } from "../../../core/plant.ts";
import { Interruption, UsageError } from "../../command-error.ts";
import { toInputName } from "../../input.ts";
import type { StopSignal } from "../../io.ts";
import { createOne } from "./create-one.ts";
import { openRecordInput, type PlacedRecord, type RecordInput } from "./record-input.ts";
import { checkRejectsPath, openRejectsFile, type RejectsFile } from "./rejects-file.ts";
import type { CreateRun, ManyRun } from "./create-run.ts";
import { UnknownMembers } from "./unknown-members.ts";

/**
 * Creates the plants.
 *
 * @param paths at least one; `-` is standard input
 * @returns the exit code, after the results are printed
 * @throws CommandError, Interruption, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function createFromInputs(paths: readonly string[], base: CreateRun): Promise<number> {
  const { options, io, cutOff } = base;
  const { many } = options;
  const input = await openRecordInput({ paths, many, io, signal: cutOff.signal });
  if (many.rejectsPath !== undefined) await checkRejectsPath(many.rejectsPath, paths);
  const lastCall = new AbortController();
  let stoppedBy: StopSignal | undefined;
  let isMany = false;
  const run: ManyRun = {
    ...base,
    paths,
    input,
    isTyped: paths.includes("-") && io.stdin.isTTY === true,
    lastCall: lastCall.signal,
    stopSignal: () => stoppedBy,
  };
  const releaseSignals = io.onSignal((name) => {
    if (isMany && run.isSent) {
      stoppedBy = name;
      lastCall.abort();
      input.stop();
    } else {
      cutOff.abort(new Interruption(name, run.isSent));
    }
  });
  try {
    const first = await readFirst(run);
    if (first.isSingle) return await createSingle(first.records[0], run);
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
  }
}

/** The records that decide between one plant and many. */
interface FirstRecords {
  /** At most two. */
  readonly records: readonly PlacedRecord[];
  /** The rest of the group of the last one. */
  readonly rest: Iterable<PlacedRecord>;
  /** True if the input is neither an array nor a table and holds at most one record, which is not skipped. */
  readonly isSingle: boolean;
}

async function readFirst(run: ManyRun): Promise<FirstRecords> {
  const { options, terminal, paths, input, cutOff } = run;
  const isKnownMany = options.many.isMany || paths.length > 1;
  const records: PlacedRecord[] = [];
  const read = async (): Promise<FirstRecords> => {
    let rest: Iterator<PlacedRecord> = [].values();
    const toFirst = (isSingle: boolean) => ({
      records,
      rest: { [Symbol.iterator]: () => rest },
      isSingle,
    });
    try {
      for (;;) {
        const next = rest.next();
        if (!next.done) records.push(next.value);
        const isMany = isKnownMany || input.isCollection;
        if (records.length >= (isMany ? 1 : 2)) return toFirst(false);
        if (!next.done) continue;
        const more = await input.groups.next();
        if (more.done) return toFirst(!isMany && !records.some(isSkipped));
        rest = more.value[Symbol.iterator]();
      }
    } catch (error) {
      if (records.length === 0 || cutOff.signal.aborted) throw error;
      rest = fail(error);
      return toFirst(false);
    }
  };
  if (run.isTyped) {
    await terminal.note("reading plants as JSON from the terminal: end with Ctrl-D");
    return read();
  }
  const toText = (): string =>
    records.length === 0
      ? "waiting for input"
      : "waiting for more input; with --many, each plant is sent at once";
  return terminal.showWhile(toText, read);
}

function isSkipped({ plant }: PlacedRecord): boolean {
  return "isSkipped" in plant;
}

/** Throws after the records that were read before an error. */
function fail(error: unknown): Iterator<never> {
  return {
    next() {
      throw error;
    },
  };
}

async function* readAll(
  { records, rest }: FirstRecords,
  input: RecordInput,
): AsyncGenerator<Iterable<PlacedRecord>, void, undefined> {
  yield records;
  yield rest;
  yield* input.groups;
}

async function createSingle(record: PlacedRecord | undefined, run: ManyRun): Promise<number> {
  const plant = record?.plant ?? readNewPlant(new Uint8Array());
  const { isQuiet, isStrict } = run.options.many;
  if (record !== undefined && !isQuiet && !isStrict) {
    for (const warning of new UnknownMembers().add(record)) await run.terminal.warning(warning);
  }
  let file: RejectsFile | undefined;
  const rejects = {
    open: async () => {
      file = await openRejectsFile(run);
    },
    add: async () => file?.add(record ? [record] : []),
  };
  try {
    return await createOne(plant, toInputName(run.paths[0] ?? "-"), run, rejects);
  } finally {
    await file?.close();
  }
}
