/** The file of rejected and failed records. It has their exact bytes, so that they can be corrected and sent again. */
// Not node:fs/promises, which takes 3 ms to load.
import { constants, promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { lineFeed } from "../../../core/json.ts";
import { isError, toInputName, toSystemReason } from "../../../core/messages.ts";
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

  /**
   * Checks that the file has no other use in the run.
   *
   * @param inputs `-` is standard input
   * @throws CommandError if it is an input or standard output
   */
  async assertUnused(inputs: readonly string[]): Promise<void> {
    const names = inputs.map((input) => (input === "-" ? "/dev/stdin" : input));
    const isInput = await isOneOf(this.#path, names);
    if (!isInput && !(await isOneOf(this.#path, ["/dev/stdout"]))) return;
    const use = isInput ? "an input" : "standard output";
    throw new CommandError("usage", `--rejects ${this.#path} is ${use}: use another name`);
  }

  /**
   * Checks the path before the first record, and removes the file of an earlier run. A device or a pipe is opened at once.
   *
   * @throws CommandError if it cannot be written, or is a link to a file
   */
  async prepare(): Promise<void> {
    await this.#write(async () => {
      const stats = await promises.stat(this.#path).catch(ignoreMissing);
      if (stats !== undefined && !stats.isFile()) {
        this.#file = await promises.open(this.#path, "a");
        return;
      }
      const entry = await promises.lstat(this.#path).catch(ignoreMissing);
      if (entry?.isSymbolicLink()) {
        throw new CommandError("usage", `--rejects ${this.#path} is a link: name its file`);
      }
      await promises.access(dirname(this.#path), constants.W_OK);
      if (entry === undefined) return;
      if (this.#isExtended) await promises.access(this.#path, constants.W_OK);
      else await promises.unlink(this.#path);
    });
  }

  /** Appends records. Rows of a table follow its header. @throws CommandError if the file cannot be written */
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
    await this.#write(async () => {
      this.#file ??= await this.#open();
      await this.#file.appendFile(Buffer.concat(pieces));
    });
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  /** Creates the file, or opens that of the run that this one resumes. */
  async #open(): Promise<FileHandle> {
    // A new one must not exist: it could be a link by now.
    const file = await promises.open(this.#path, this.#isExtended ? "a+" : "ax+", ownerOnly);
    // A file that was edited by hand may end without a line break.
    if (await lacksLineBreak(file)) await file.appendFile(lineBreak);
    return file;
  }

  async #write(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof CommandError) throw error;
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

function ignoreMissing(error: unknown): undefined {
  if (isError(error) && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
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
