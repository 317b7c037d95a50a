/** Ids of plants as arguments and on standard input, and in messages. */
import { maxBodyRange } from "../library/store-options.ts";
import type { PlantRecord } from "../records/record-reader.ts";
import { plantId } from "./options/local.ts";
import { CommandError, UsageError } from "./command-error.ts";
import type { Run } from "./command.ts";
import { readChunks } from "./input.ts";
import { parseText } from "./options/values.ts";

/** Checks whether the only argument is `-`. @throws UsageError if other ids are next to it */
export function isStandardInput(operands: readonly string[]): boolean {
  if (!operands.includes("-")) return false;
  if (operands.length === 1) return true;
  throw new UsageError("- reads the ids from standard input: remove the other ids");
}

/**
 * Reads ids from standard input, no faster than the caller consumes them: one per line, as an integer or as the member `id`
 * of a JSON object. Ignores blank lines.
 *
 * @throws CommandError for a line without an id, after the ids before it, and if the input cannot be read
 * @throws the signal's reason, once it is aborted
 */
export async function* readIds(
  { io, terminal }: Pick<Run, "io" | "terminal">,
  signal: AbortSignal,
): AsyncGenerator<bigint, void, undefined> {
  if (io.stdin.isTTY) await terminal.note("reading ids from the terminal: end with Ctrl-D");
  const { createRecordReader } = await import("../records/json-reader.ts");
  const { InputSyntaxError } = await import("../records/record-reader.ts");
  const command = "plantstore delete -";
  const reader = createRecordReader({ path: "-", maxBytes: maxBodyRange.max, command });
  let isEmpty = true;
  try {
    for await (const records of reader.read(readChunks("-", io, signal))) {
      for (const record of records) {
        isEmpty = false;
        yield record.content.id ?? parseId(record);
      }
    }
  } catch (error) {
    if (!(error instanceof InputSyntaxError)) throw error;
    throw new CommandError("usage", error.message, { cause: error });
  }
  if (isEmpty) await terminal.warning("the input has no ids");
}

/** Parses a record that is no object with an id. @throws CommandError unless it is an id */
function parseId({ line, bytes, content: { plant, isMalformed } }: PlantRecord): bigint {
  const source = `line ${line} of standard input`;
  const text = new TextDecoder().decode(bytes).trim();
  if (!text.startsWith("{")) return parseText(source, text, plantId);
  const advice = "write one id per line, or JSON with the id of a plant";
  const isKnown = isMalformed && "message" in plant;
  const problem = isKnown ? `: ${plant.message}` : ` has no valid member id: ${advice}`;
  throw new CommandError("usage", source + problem);
}

/** Largest number of ids in a message. */
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
    const more = this.count > maxNamed ? ` and ${this.count - maxNamed} more` : "";
    return `${noun} ${this.#named.join(", ")}${more}`;
  }
}
