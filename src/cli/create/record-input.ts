/** The records of files and of the standard input, one input after the other, and how far they have been read. */
// Not node:fs/promises, which takes 3 ms to load: this is loaded where it is used.
import { constants, promises } from "node:fs";
import {
  type Framing,
  type Header,
  HeaderError,
  type InputRecord,
} from "../../client/records/input-record.ts";
import { JsonFraming } from "../../client/records/json-framing.ts";
import { CommandError } from "../command-error.ts";
import { readChunks, toInputError, toInputName } from "../input.ts";
import type { Io } from "../io.ts";
import { optionRanges } from "../../server/limits.ts";
import type { InputFormat } from "../settings/create-settings.ts";

/** The most that a plant may take in a file, which is what any server may take: 64 MiB. */
const maxPlantBytes = optionRanges.maxBodyBytes.max;

/** A record, and the input that it is of. */
export interface PlacedRecord extends InputRecord {
  /** `-` is the standard input. */
  readonly path: string;
  /** The header row above it. */
  readonly header?: Header | undefined;
}

/** Where a record begins. */
export type RecordPlace = Pick<PlacedRecord, "path" | "line">;

/** Inputs that are being read. */
export interface RecordInput {
  /**
   * The records, those together that a piece of an input completes; to be read once, and in order. They throw a
   * CommandError when an input can't be read.
   */
  readonly pieces: AsyncIterator<Iterable<PlacedRecord>, void, undefined>;
  /** Of all inputs; undefined where that is not known, as of a pipe. */
  readonly totalBytes: number | undefined;
  /** Of the records so far, and of what separates them; nearly. */
  readonly bytesRead: number;
  /** Where the first record begins that was not read, or a part of the input behind the last one that was. */
  readonly place: RecordPlace;
  /** Whether the input that is being read is made for many records, even if it holds one or none. */
  readonly isCollection: boolean;
  /** Whether {@link RecordInput.stop} was called. */
  readonly isStopped: boolean;
  /** Ends the records, also where the next one is being waited for. */
  stop(): void;
}

/** What to read. */
export interface FileInputOptions {
  /** At least one; `-` is the standard input. */
  readonly paths: readonly string[];
  readonly format: InputFormat;
  /** Records of the first input that begin before this line are passed over. */
  readonly fromLine: number;
  /** Makes the records throw its reason. */
  readonly signal: AbortSignal;
}

/**
 * Looks at files, and gets ready to read them.
 *
 * @throws CommandError when one of them can't be read
 */
export async function openFileInput(
  options: FileInputOptions,
  io: Pick<Io, "stdin">,
): Promise<RecordInput> {
  let totalBytes: number | undefined = 0;
  for (const path of options.paths) {
    const size = path === "-" ? undefined : await findSize(path);
    totalBytes = totalBytes === undefined || size === undefined ? undefined : totalBytes + size;
  }
  return new FileInput(options, io, totalBytes, await loadFraming(options.format));
}

/** @returns undefined for what is no regular file */
async function findSize(path: string): Promise<number | undefined> {
  try {
    await promises.access(path, constants.R_OK);
    const stats = await promises.stat(path);
    return stats.isFile() ? stats.size : undefined;
  } catch (error) {
    throw toInputError(toInputName(path), error);
  }
}

/** What finds the records of an input of this format. */
export async function loadFraming(format: InputFormat): Promise<() => Framing> {
  if (format === "json") return () => new JsonFraming(maxPlantBytes);
  const { CsvFraming } = await import("../../client/records/csv-framing.ts");
  return () => new CsvFraming(format === "csv" ? "," : "\t", maxPlantBytes);
}

class FileInput implements RecordInput {
  readonly pieces = this.#read();
  readonly totalBytes: number | undefined;
  bytesRead = 0;
  readonly #options: FileInputOptions;
  readonly #io: Pick<Io, "stdin">;
  readonly #createFraming: () => Framing;
  readonly #stop = new AbortController();
  #path: string;
  #framing: Framing;

  constructor(
    options: FileInputOptions,
    io: Pick<Io, "stdin">,
    totalBytes: number | undefined,
    createFraming: () => Framing,
  ) {
    this.totalBytes = totalBytes;
    this.#options = options;
    this.#io = io;
    this.#createFraming = createFraming;
    this.#path = options.paths[0] ?? "-";
    this.#framing = createFraming();
  }

  get place(): RecordPlace {
    return { path: this.#path, line: this.#framing.line };
  }

  get isCollection(): boolean {
    return this.#framing.isCollection;
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  stop(): void {
    this.#stop.abort();
  }

  async *#read(): AsyncGenerator<Iterable<PlacedRecord>, void, undefined> {
    const signal = AbortSignal.any([this.#stop.signal, this.#options.signal]);
    try {
      for (const [index, path] of this.#options.paths.entries()) {
        const fromLine = index === 0 ? this.#options.fromLine : 1;
        this.#path = path;
        this.#framing = this.#createFraming();
        for await (const bytes of readChunks(path, this.#io, signal)) {
          const bytesBefore = this.bytesRead;
          yield this.#place(this.#framing.push(bytes), fromLine);
          if (this.isStopped) return;
          this.bytesRead = bytesBefore + bytes.length;
        }
        yield this.#place(this.#framing.end(), fromLine);
        if (this.isStopped) return;
      }
    } catch (error) {
      if (!this.isStopped || this.#options.signal.aborted) throw error;
    }
  }

  *#place(records: Iterable<InputRecord>, fromLine: number): Iterable<PlacedRecord> {
    const path = this.#path;
    try {
      for (const record of records) {
        this.bytesRead += record.bytes.length + 1;
        if (record.line >= fromLine) yield { ...record, path, header: this.#framing.header };
        if (this.isStopped) return;
      }
    } catch (error) {
      if (!(error instanceof HeaderError)) throw error;
      throw new CommandError("usage", `${toInputName(path)} ${error.message}`, { cause: error });
    }
  }
}
