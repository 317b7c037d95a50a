/** The file of rejected and failed records. It has their exact bytes, so that they can be corrected and sent again. */
// Not node:fs/promises, which takes 3 ms to load.
import { promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { isBlank } from "../../../records/characters.ts";
import { CommandError, toSystemReason } from "../../command-error.ts";
import { toInputName } from "../../input.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { PlacedRecord } from "./record-input.ts";
import type { ManyRun } from "./create-run.ts";

const lineBreak = Buffer.from("\n");

/**
 * Checks that the file of `--rejects` has no other use in the run.
 *
 * @param inputs `-` is standard input
 * @throws CommandError if it is an input or standard output
 */
export async function checkRejectsPath(path: string, inputs: readonly string[]): Promise<void> {
  const names = inputs.map((input) => (input === "-" ? "/dev/stdin" : input));
  const isInput = await isOneOf(path, names);
  if (!isInput && !(await isOneOf(path, ["/dev/stdout"]))) return;
  const use = isInput ? "an input" : "standard output";
  throw new CommandError("usage", `--rejects ${path} is ${use}: use another name`);
}

/**
 * Opens the file of `--rejects`. A run that resumes an earlier one appends to it.
 *
 * @returns undefined without `--rejects`
 * @throws CommandError if it cannot be written
 */
export async function openRejectsFile({
  options: { many },
  terminal,
}: ManyRun): Promise<RejectsFile | undefined> {
  const { rejectsPath: path, fromLine } = many;
  if (path === undefined) return undefined;
  const file = await writing(path, () => promises.open(path, fromLine === undefined ? "w" : "a+"));
  try {
    // A file that was edited by hand may end without a line break.
    if (await lacksLineBreak(file)) await writing(path, () => file.appendFile(lineBreak));
    return new RejectsFile(path, file, terminal);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** An open file for rejects. */
export class RejectsFile {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #terminal: Terminal;
  #header: Uint8Array | undefined;

  constructor(path: string, file: FileHandle, terminal: Terminal) {
    this.#path = path;
    this.#file = file;
    this.#terminal = terminal;
  }

  /**
   * Appends records. Rows of a table follow its header.
   *
   * @throws CommandError if the file cannot be written
   */
  async add(records: readonly PlacedRecord[]): Promise<void> {
    const pieces: Uint8Array[] = [];
    for (const { header, bytes, line, path } of records) {
      if (header !== undefined && !(this.#header && Buffer.from(header).equals(this.#header))) {
        pieces.push(header, lineBreak);
        this.#header = header;
      }
      if (bytes.length > 0) pieces.push(...toPieces(bytes, header !== undefined), lineBreak);
      else {
        await this.#terminal.warning(
          `${this.#path} lacks the record at line ${line} of ${toInputName(path)}: it is too large`,
        );
      }
    }
    await writing(this.#path, () => this.#file.appendFile(Buffer.concat(pieces)));
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Returns the bytes of a record so that a JSON reader finds its end, although it may be malformed. */
function toPieces(bytes: Uint8Array, isRow: boolean): readonly Uint8Array[] {
  if (isRow) return [bytes];
  const record = bytes.subarray(
    Math.max(
      bytes.findIndex((byte) => !isBlank(byte)),
      0,
    ),
  );
  // After an empty line, a record may have several lines.
  return record.includes(lineBreak[0] ?? 0) ? [lineBreak, record] : [record];
}

async function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = `${path} cannot be written: ${toSystemReason(error)}`;
    throw new CommandError("usage", message, { cause: error });
  }
}

async function lacksLineBreak(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return !buffer.equals(lineBreak);
}

/** Compares the files themselves: standard streams may be redirected, and a file may have several names. */
async function isOneOf(path: string, others: readonly string[]): Promise<boolean> {
  const identify = async (each: string): Promise<string | undefined> => {
    const stats = await promises.stat(each, { bigint: true }).catch(() => undefined);
    return stats?.isFile() === true ? `${stats.dev}:${stats.ino}` : undefined;
  };
  const target = await identify(path);
  return target !== undefined && (await Promise.all(others.map(identify))).includes(target);
}
