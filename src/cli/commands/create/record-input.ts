/** Records of inputs, with their unknown members. */
import type { Rejection } from "../../../client/results.ts";
import { findClosestWord, joinWords, quoteInput, toInputName } from "../../../core/messages.ts";
import type { NewPlant } from "../../../core/plant.ts";
import { memberNames } from "../../../core/read-plant.ts";
import { maxBodyRange } from "../../../library/store-options.ts";
import { createRecordReader } from "../../../records/json-reader.ts";
import {
  InputSyntaxError,
  type PlantRecord,
  type RecordContent,
  type RecordReader,
} from "../../../records/record-reader.ts";
import { readInputChunks, statReadable, toInputError } from "../../input.ts";
import type { CreateRun } from "./create-run.ts";

/** Largest record that is kept: no server accepts a larger plant. */
const maxRecordBytes = maxBodyRange.max;

/** A record with its number and position in the run. */
export interface NumberedRecord extends PlantRecord {
  /** The plant to send, or why it is rejected. */
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

export type RecordPosition = Pick<NumberedRecord, "path" | "line">;

/** Checks that the files can be read. */
export async function openRecordInput(run: CreateRun): Promise<RecordInput> {
  const { paths } = run.options;
  const hints = paths.some((path) => noFileNames.test(path)) ? [fileHint] : [];
  let totalBytes: number | undefined = 0;
  for (const path of paths) {
    const stats = path === "-" ? undefined : await statReadable(path, toInputName(path), hints);
    const size = stats?.isFile() ? stats.size : undefined;
    totalBytes = totalBytes === undefined || size === undefined ? undefined : totalBytes + size;
  }
  return new RecordInput(run, totalBytes);
}

/** Names that look like JSON, a URL, or a word of a plant. */
const noFileNames = /^\s*[{[]|^(?:https?|unix):\/|^[^./\\]+$/;
const fileHint =
  "An argument is a file. A plant has flags (--id 1 --name fern), JSON comes from standard input (-), and --url selects the server.";

/** Names of files that hold any number of plants, also one or none. */
const manyNames = /\.(?:ndjson|jsonl|[ct]sv)$/i;

export class RecordInput {
  readonly records = this.#read();
  /** At least one; `-` is standard input. */
  readonly paths: readonly string[];
  /** True if an input is a terminal: progress would hide what the user types. */
  readonly isTyped: boolean;
  /** Size of all inputs; undefined if it is not known, as for a pipe. */
  readonly totalBytes: number | undefined;
  readonly #run: CreateRun;
  readonly #stop = new AbortController();
  #path: string;
  #reader: RecordReader;
  #count = 0;
  #isMany: boolean;

  constructor(run: CreateRun, totalBytes: number | undefined) {
    const { paths, json, fromLine } = run.options;
    this.#isMany =
      json === true || fromLine !== undefined || paths.length > 1 || manyNames.test(paths[0] ?? "");
    this.totalBytes = totalBytes;
    this.paths = paths;
    this.isTyped = paths.includes("-") && run.io.stdin.isTTY === true;
    this.#run = run;
    this.#path = paths[0] ?? "-";
    this.#reader = this.#createReader();
  }

  /** Position of the first byte that belongs to no record yet. */
  get position(): RecordPosition {
    return { path: this.#path, line: this.#reader.line };
  }

  get count(): number {
    return this.#count;
  }

  /** True if the input is records, and not one plant, as far as it was read. */
  get isMany(): boolean {
    return this.#isMany || this.#count > 1 || this.#reader.isCollection;
  }

  /** Ends the records, also while the next one is awaited. */
  readonly stop = (): void => this.#stop.abort();

  #createReader(): RecordReader {
    const source = { path: this.#path, maxBytes: maxRecordBytes };
    return createRecordReader(source, this.#run.options.delimiter);
  }

  get #isTable(): boolean {
    return this.#run.options.delimiter !== undefined || /\.[ct]sv/i.test(this.#path);
  }

  async *#read(): AsyncGenerator<NumberedRecord, void, undefined> {
    const { io, options, abort } = this.#run;
    const signal = AbortSignal.any([this.#stop.signal, abort]);
    let offset = 0;
    try {
      for (const [index, path] of this.paths.entries()) {
        this.#path = path;
        this.#reader = this.#createReader();
        const firstLine = (index === 0 && options.fromLine) || 1;
        for await (const records of this.#reader.read(readInputChunks(path, io, signal))) {
          for (const record of records) {
            if (record.line >= firstLine) yield this.#number(record, offset);
            if (this.#stop.signal.aborted) return;
          }
        }
        offset += this.#reader.bytesRead;
      }
    } catch (error) {
      if (this.#stop.signal.aborted && !abort.aborted) return;
      // What is malformed follows the records so far.
      this.#isMany ||= this.#count > 0;
      if (!(error instanceof InputSyntaxError)) throw error;
      throw toInputError(error, `plantstore create ${this.#isTable ? "--csv " : ""}-`);
    }
  }

  #number({ line, bytes, content }: PlantRecord, offset: number): NumberedRecord {
    const { header } = this.#reader;
    const plant = selectPlant(content, header, this.#run.options.isStrict);
    const bytesRead = offset + this.#reader.bytesRead;
    const number = ++this.#count;
    // Not a spread of the record, which takes several times as long.
    return { number, path: this.#path, line, bytes, content, plant, header, bytesRead };
  }
}

function selectPlant(
  { plant, unknownMembers }: RecordContent,
  header: Uint8Array | undefined,
  isStrict = false,
): NewPlant | Rejection {
  const [unknown] = isStrict ? unknownMembers : [];
  if (unknown === undefined || "message" in plant) return plant;
  return { message: `${describeUnknownMember(unknown, header)} (--strict)` };
}

/** Largest number of names that are reported; a program may put data into names. */
const maxNames = 10;

/** Describes an unknown member, or an unknown column of a table, in one line. */
function describeUnknownMember(name: string, header: Uint8Array | undefined): string {
  const known = findClosestWord(name, memberNames);
  const advice =
    known === undefined ? `a plant has ${joinWords(memberNames)}` : `did you mean "${known}"?`;
  return `unknown ${header === undefined ? "member" : "column"} "${quoteInput(name)}": ${advice}`;
}

/** Reports each unknown member once. */
export class UnknownMembers {
  readonly #names = new Set<string>();

  add({ content, number, line, header }: NumberedRecord): readonly string[] {
    const subject = `record ${number} (line ${line})`;
    return content.unknownMembers.flatMap((name) => {
      if (this.#names.has(name) || this.#names.size === maxNames) return [];
      this.#names.add(name);
      return `${subject}: ${describeUnknownMember(name, header)}`;
    });
  }
}
