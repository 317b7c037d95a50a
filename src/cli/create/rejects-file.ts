/** The file of records that were not created: as they stood in the input, so that they can be mended and sent again. */
// Not node:fs/promises, which takes 3 ms to load: this is loaded where it is used.
import { createReadStream, promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { type Header, HeaderError } from "../../client/records/input-record.ts";
import { CommandError } from "../command-error.ts";
import { toInputError, toInputName } from "../input.ts";
import type { InputFormat } from "../settings/create-settings.ts";
import { loadFraming, type PlacedRecord } from "./record-input.ts";
import type { InputRun } from "./run.ts";
import { toSystemReason } from "../system-error.ts";

const lineBreak = Buffer.from("\n");

/** A file that takes records. */
export interface RejectsFile {
  /** @throws RejectsError */
  add(records: readonly PlacedRecord[]): Promise<void>;
  /** Closes it, and names the records that it lacks because they were too long to be kept. */
  close(): Promise<void>;
}

/** Records that the file could not take. */
export class RejectsError extends CommandError {
  /** The first of them; those that came with it and stood before it are in the file. */
  readonly record: PlacedRecord;

  constructor(message: string, record: PlacedRecord, options?: ErrorOptions) {
    super("usage", message, options);
    this.record = record;
  }
}

/**
 * Opens the file that is asked for; what is in it stays only when an earlier run is continued.
 *
 * @throws CommandError
 */
export async function openRejectsFile({
  options: { many },
  paths,
  reporter,
}: InputRun): Promise<RejectsFile | undefined> {
  const path = many.rejectsPath;
  if (path === undefined) return undefined;
  if (await isOneOf(path, paths)) {
    throw new CommandError("usage", `--rejects ${path} is an input: give it another name`);
  }
  const { file, isEmpty } = await openFile(path, many.fromLine !== undefined);
  const toBytes = createLayout(isEmpty);
  const lacking: PlacedRecord[] = [];
  let header: Header | undefined;
  try {
    if (!isEmpty) {
      header = await readHeader(path, many.format);
      await endLastLine(path, file);
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    async add(records) {
      const misfit = records.find((record) => {
        header ??= record.header;
        return !haveSameColumns(header, record.header);
      });
      const fitting = misfit === undefined ? records : records.slice(0, records.indexOf(misfit));
      const [first] = fitting;
      if (first !== undefined) {
        await file.appendFile(toBytes(fitting)).catch((error: unknown) => {
          throw new RejectsError(describeFailure(path, error), first, { cause: error });
        });
      }
      lacking.push(...fitting.filter(({ isTooLong }) => isTooLong));
      if (misfit === undefined) return;
      const name = toInputName(misfit.path);
      const message = `${path} takes rows of tables with the same columns, and ${name} has others: name another file with --rejects`;
      throw new RejectsError(message, misfit);
    },
    async close() {
      await file.close();
      for (const record of lacking) {
        const name = toInputName(record.path);
        const message = `${path} lacks the record at line ${record.line} of ${name}: it is too long to be kept`;
        await reporter.warning(message);
      }
    },
  };
}

async function openFile(
  path: string,
  isContinued: boolean,
): Promise<{ readonly file: FileHandle; readonly isEmpty: boolean }> {
  try {
    const file = await promises.open(path, isContinued ? "a" : "w");
    const { size } = await file.stat();
    return { file, isEmpty: size === 0 };
  } catch (error) {
    throw new CommandError("usage", describeFailure(path, error), { cause: error });
  }
}

/** Whoever mended a file by hand may have left its last line without an end. */
async function endLastLine(path: string, file: FileHandle): Promise<void> {
  try {
    if (await lacksLineBreak(path)) await file.appendFile(lineBreak);
  } catch (error) {
    throw new CommandError("usage", describeFailure(path, error), { cause: error });
  }
}

async function lacksLineBreak(path: string): Promise<boolean> {
  const file = await promises.open(path).catch(() => undefined);
  // Nobody has mended by hand what may not be read.
  if (file === undefined) return false;
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return !buffer.equals(lineBreak);
  } finally {
    await file.close();
  }
}

/** The header of a table that is continued; undefined when it is none. */
async function readHeader(path: string, format: InputFormat): Promise<Header | undefined> {
  if (format === "json") return undefined;
  const framing = (await loadFraming(format))();
  try {
    for await (const bytes of createReadStream(path) as AsyncIterable<Uint8Array>) {
      framing.push(bytes)[Symbol.iterator]().next();
      if (framing.header !== undefined) break;
    }
    framing.end()[Symbol.iterator]().next();
    return framing.header;
  } catch (error) {
    if (!(error instanceof HeaderError)) throw toInputError(path, error);
    throw new CommandError("usage", `${path} ${error.message}`, { cause: error });
  }
}

function describeFailure(path: string, cause: unknown): string {
  return `${path} can't be written: ${toSystemReason(cause)}`;
}

async function isOneOf(path: string, inputs: readonly string[]): Promise<boolean> {
  const target = await promises.realpath(path).catch(() => undefined);
  if (target === undefined) return false;
  const targets = await Promise.all(
    inputs.map((input) => promises.realpath(input).catch(() => undefined)),
  );
  return targets.includes(target);
}

function haveSameColumns(one: Header | undefined, other: Header | undefined): boolean {
  return one === other || JSON.stringify(one?.columns) === JSON.stringify(other?.columns);
}

/**
 * A function that turns records into what is written of them: each on a line, rows of a table below the first header.
 *
 * @param isEmpty whether the file has no header yet
 */
function createLayout(isEmpty: boolean): (records: readonly PlacedRecord[]) => Uint8Array {
  let hasHeader = !isEmpty;
  return (records) => {
    const pieces: Uint8Array[] = [];
    for (const { header, bytes } of records) {
      if (!hasHeader && header !== undefined) pieces.push(header.bytes, lineBreak);
      hasHeader = true;
      if (bytes.length > 0) pieces.push(bytes, lineBreak);
    }
    return Buffer.concat(pieces);
  };
}
