/** Ids of plants as arguments and on standard input, and in messages. */
import { maxBodyRange } from "../library/store-options.ts";
import type { PlantRecord } from "../records/record-reader.ts";
import { plantId } from "./options/local.ts";
import { CommandError, UsageError } from "./command-error.ts";
import type { Run } from "./command.ts";
import { parseText } from "./options/values.ts";
import { readInputChunks, toInputError } from "./input.ts";

export function isStandardInput(operands: readonly string[]): boolean {
  if (!operands.includes("-")) return false;
  if (operands.length === 1) return true;
  throw new UsageError("- reads the ids from standard input: remove the other ids");
}

/**
 * Reads ids from standard input, no faster than the caller consumes them: one per line, as an integer or as the member `id`
 * of a JSON object, or a table with a column `id`. Ignores blank lines.
 */
export async function* readIds(
  { io, terminal, command }: Pick<Run, "io" | "terminal" | "command">,
  signal: AbortSignal,
): AsyncGenerator<bigint, void, undefined> {
  if (io.stdin.isTTY) await terminal.note("reading ids from the terminal: end with Ctrl-D");
  const { createRecordReader, InputSyntaxError } = await import("../records/json-reader.ts");
  const chunks = readInputChunks("-", io, signal);
  const start = await readFirstLine(chunks);
  const source = {
    path: "-",
    maxBytes: maxBodyRange.max,
    requiredColumns: ["id"],
  };
  const reader = createRecordReader(source, findTableDelimiter(start));
  let isEmpty = true;
  try {
    for await (const records of reader.read(joinChunks(start, chunks))) {
      for (const record of records) {
        isEmpty = false;
        yield record.content.id ?? parseId(record);
      }
    }
  } catch (error) {
    if (!(error instanceof InputSyntaxError)) throw error;
    if (error.record !== undefined) parseId(error.record);
    throw toInputError(error, `plantstore ${command.name} -`);
  }
  if (isEmpty) await terminal.warning("the input has no ids");
}

/** A longer line is no header of a table. */
const maxHeaderBytes = 64 * 1024;

async function readFirstLine(chunks: AsyncGenerator<Uint8Array>): Promise<Buffer> {
  let start = Buffer.alloc(0);
  while (!start.includes("\n") && start.length < maxHeaderBytes) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

async function* joinChunks(start: Uint8Array, rest: AsyncIterable<Uint8Array>) {
  yield start;
  yield* rest;
}

/** Finds the delimiter of a table with a column `id`; undefined for other input. */
function findTableDelimiter(start: Buffer): string | undefined {
  const [header = ""] = start.toString("utf8").split("\n", 1);
  const isColumn = (cell: string): boolean => /^\ufeff?"?id"?\r?$/i.test(cell);
  return [",", ";", "\t", "|"].find((delimiter) => header.split(delimiter).some(isColumn));
}

/** Parses a record that is no object with an id. */
function parseId({ line, bytes, content: { plant, isMalformed } }: PlantRecord): bigint {
  const text = new TextDecoder().decode(bytes).trim();
  // Nothing is kept of a line over the limit.
  const isTooLarge = text === "";
  if ((isTooLarge || (isMalformed && text.startsWith("{"))) && "message" in plant) {
    throw new CommandError("usage", `line ${line}: ${plant.message}`);
  }
  return parseText(`line ${line}: the id`, text, plantId);
}

const maxNamed = 20;

/** Ids for a message. Counts all of them, and keeps only those that the message names. */
export class IdList {
  count = 0;
  readonly #named: bigint[] = [];

  add(ids: readonly bigint[]): void {
    this.#named.push(...ids.slice(0, maxNamed - this.#named.length));
    this.count += ids.length;
  }

  /** Such as `ids 7, 8`. */
  describe(): string {
    const noun = this.count === 1 ? "id" : "ids";
    const more =
      this.count > maxNamed ? ` and ${(this.count - maxNamed).toLocaleString("en")} more` : "";
    return `${noun} ${this.#named.join(", ")}${more}`;
  }
}
