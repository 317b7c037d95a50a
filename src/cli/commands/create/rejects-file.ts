/** The file of rejected and failed records. It has their exact bytes, so that they can be corrected and sent again. */
// Not node:fs/promises, which takes 3 ms to load.
import { promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { lineFeed } from "../../../core/json.ts";
import { toInputName, toSystemReason } from "../../../core/messages.ts";
import { CommandError } from "../../command-error.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { NumberedRecord } from "./record-input.ts";

/** Mode of a new file: records can be confidential. */
const ownerOnly = 0o600;

const lineBreak = Buffer.of(lineFeed);
const space = 0x20;

export class RejectsFile {
  readonly #path: string;
  readonly #isExtended: boolean;
  readonly #terminal: Terminal;
  #file: FileHandle | undefined;
  #header: Uint8Array | undefined;

  /** @param isExtended true for a run that resumes an earlier one */
  constructor(path: string, isExtended: boolean, terminal: Terminal) {
    this.#path = path;
    this.#isExtended = isExtended;
    this.#terminal = terminal;
  }

  /** Asserts that the file is neither an input nor standard output. @param inputs `-` is standard input */
  async assertUnused(inputs: readonly string[]): Promise<void> {
    const names = inputs.map((input) => (input === "-" ? "/dev/stdin" : input));
    const isInput = await isOneOf(this.#path, names);
    if (!isInput && !(await isOneOf(this.#path, ["/dev/stdout"]))) return;
    const use = isInput ? "an input" : "standard output";
    throw new CommandError("usage", `--rejects ${this.#path} is ${use}: use another name`);
  }

  /** Opens the file before the first record, and empties that of an earlier run. */
  async prepare(): Promise<void> {
    await this.#write(async () => {
      this.#file = await promises.open(this.#path, this.#isExtended ? "a+" : "w", ownerOnly);
      // A file that was edited by hand may end without a line break.
      if (this.#isExtended && (await lacksLineBreak(this.#file))) {
        await this.#file.appendFile(lineBreak);
      }
    });
  }

  /** Appends records. Rows of a table follow its header. */
  async add(records: readonly NumberedRecord[]): Promise<void> {
    const pieces: Uint8Array[] = [];
    for (const { header, bytes, line, path } of records) {
      if (header !== undefined && !(this.#header && Buffer.from(header).equals(this.#header))) {
        pieces.push(header, lineBreak);
        this.#header = header;
      }
      if (bytes.length > 0) pieces.push(header === undefined ? toOneLine(bytes) : bytes, lineBreak);
      else {
        await this.#terminal.warning(
          `${this.#path} lacks the record at line ${line} of ${toInputName(path)}: it is too large`,
        );
      }
    }
    await this.#write(async () => this.#file?.appendFile(Buffer.concat(pieces)));
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #write(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = `${this.#path} cannot be written: ${toSystemReason(error)}`;
      throw new CommandError("usage", message, { cause: error });
    }
  }
}

/** Makes one line of a record of JSON, so that the first line shows that each line is a record. */
function toOneLine(bytes: Uint8Array): Uint8Array {
  // Outside of strings, which have no line feeds, they are blanks.
  return bytes.map((byte) => (byte === lineFeed ? space : byte));
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
