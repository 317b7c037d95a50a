/** Reads the records of files and of standard input, one input after the other. */
// Not node:fs/promises, which takes 3 ms to load.
import { constants, promises } from "node:fs";
import type { Rejection } from "../../../client/create-plants.ts";
import type { NewPlant } from "../../../core/plant.ts";
import { JsonReader } from "../../../records/json-reader.ts";
import type { RecordReader } from "../../../records/record-reader.ts";
import { InputSyntaxError, type PlantRecord } from "../../../records/record.ts";
import { TableReader } from "../../../records/table-reader.ts";
import { maxBodyRange } from "../../../library/options.ts";
import { CommandError } from "../../command-error.ts";
import { readChunks, toInputError, toInputName } from "../../input.ts";
import type { Io } from "../../io.ts";
import type { ManyOptions } from "./create-options.ts";
import { describeUnknownMember, findUnknownMembers } from "./unknown-members.ts";

/** Largest record that is kept: no server accepts a larger plant. */
const maxRecordBytes = maxBodyRange.max;

/** A record with its place in the run. */
export interface PlacedRecord extends Omit<PlantRecord, "plant" | "isDeletion" | "isMalformed"> {
  readonly plant: NewPlant | Rejection;
  /** Counts the records of the run, from 1. */
  readonly number: number;
  /** `-` is standard input. */
  readonly path: string;
  /** Header row of a table. */
  readonly header: Uint8Array | undefined;
  /** Number of bytes of all inputs up to the end of this record. */
  readonly bytesRead: number;
}

/** Place in the input. */
export type RecordPlace = Pick<PlacedRecord, "path" | "line">;

/** Options for {@link openRecordInput}. */
export interface RecordInputOptions {
  /** At least one; `-` is standard input. */
  readonly paths: readonly string[];
  readonly many: ManyOptions;
  readonly io: Pick<Io, "stdin">;
  /** Makes reading fail with its reason. */
  readonly signal: AbortSignal;
}

/**
 * Checks the files and prepares to read them.
 *
 * @throws CommandError if one of them cannot be read
 */
export async function openRecordInput(options: RecordInputOptions): Promise<RecordInput> {
  let totalBytes: number | undefined = 0;
  for (const path of options.paths) {
    const size = path === "-" ? undefined : await findSize(path);
    totalBytes = totalBytes === undefined || size === undefined ? undefined : totalBytes + size;
  }
  return new RecordInput(options, totalBytes);
}

/** @returns undefined if the path is not a regular file */
async function findSize(path: string): Promise<number | undefined> {
  try {
    await promises.access(path, constants.R_OK);
    const stats = await promises.stat(path);
    return stats.isFile() ? stats.size : undefined;
  } catch (error) {
    throw toInputError(toInputName(path), error);
  }
}

/** Inputs that are being read. */
export class RecordInput {
  /** Records in the groups in which they arrive; throws CommandError if an input cannot be read. */
  readonly groups = this.#read();
  /** Size of all inputs; undefined if it is not known, as for a pipe. */
  readonly totalBytes: number | undefined;
  readonly #options: RecordInputOptions;
  readonly #stop = new AbortController();
  #path: string;
  #reader: RecordReader;
  #count = 0;

  constructor(options: RecordInputOptions, totalBytes: number | undefined) {
    this.totalBytes = totalBytes;
    this.#options = options;
    this.#path = options.paths[0] ?? "-";
    this.#reader = this.#createReader();
  }

  /** Position of the first byte that belongs to no record yet. */
  get place(): RecordPlace {
    return { path: this.#path, line: this.#reader.line };
  }

  /** True if the current input is an array or a table. */
  get isCollection(): boolean {
    return this.#reader.isCollection;
  }

  /** Ends the records, also while the next one is awaited. */
  readonly stop = (): void => this.#stop.abort();

  #createReader(): RecordReader {
    const { delimiter } = this.#options.many;
    return delimiter === undefined
      ? new JsonReader(maxRecordBytes)
      : new TableReader(delimiter, maxRecordBytes);
  }

  async *#read(): AsyncGenerator<Iterable<PlacedRecord>, void, undefined> {
    const { paths, many, io } = this.#options;
    const signal = AbortSignal.any([this.#stop.signal, this.#options.signal]);
    let offset = 0;
    try {
      for (const [index, path] of paths.entries()) {
        const start = { offset, fromLine: (index === 0 && many.fromLine) || 1 };
        this.#path = path;
        this.#reader = this.#createReader();
        for await (const bytes of readChunks(path, io, signal)) {
          yield this.#place(this.#reader.push(bytes), start);
          if (this.#stop.signal.aborted) return;
          offset += bytes.length;
        }
        yield this.#place(this.#reader.end(), start);
        if (this.#stop.signal.aborted) return;
      }
    } catch (error) {
      if (!this.#stop.signal.aborted || this.#options.signal.aborted) throw error;
    }
  }

  *#place(
    records: Iterable<PlantRecord>,
    { fromLine, offset }: { readonly fromLine: number; readonly offset: number },
  ): Iterable<PlacedRecord> {
    const path = this.#path;
    const reader = this.#reader;
    const { isStrict } = this.#options.many;
    try {
      for (const record of records) {
        if (record.line < fromLine) continue;
        const { line, bytes, id, cursor } = record;
        const plant = toPlant(record, isStrict);
        const unknownMembers = record.isDeletion ? [] : record.unknownMembers;
        const number = ++this.#count;
        const bytesRead = offset + reader.bytesRead;
        const { header } = reader;
        const reading = { plant, id, unknownMembers, cursor };
        yield { number, path, line, bytes, header, ...reading, bytesRead };
        if (this.#stop.signal.aborted) return;
      }
    } catch (error) {
      if (!(error instanceof InputSyntaxError)) throw error;
      throw new CommandError("usage", `${toInputName(path)} ${error.message}`, { cause: error });
    }
  }
}

const skippedDeletion: Rejection = { message: "the plant was deleted", isSkipped: true };

function toPlant(record: PlantRecord, isStrict: boolean): NewPlant | Rejection {
  if (record.isDeletion) return skippedDeletion;
  const [unknown] = isStrict ? findUnknownMembers(record) : [];
  if (unknown === undefined || "message" in record.plant) return record.plant;
  return { message: `${describeUnknownMember(unknown)} (--strict)` };
}
