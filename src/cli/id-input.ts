/** Ids of plants as arguments and on standard input, and in messages. */
import { RequestError } from "../core/errors.ts";
import { JsonNumber, type JsonMembers, readJson } from "../core/json.ts";
import { plantId } from "./options/local.ts";
import { CommandError, UsageError } from "./command-error.ts";
import type { Run } from "./command.ts";
import { readChunks } from "./input.ts";
import type { Io } from "./io.ts";
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
  let number = 0;
  for await (const line of readLines(io, signal)) {
    number++;
    const text = line.trim();
    if (text !== "") yield parseId(text, `line ${number} of standard input`);
  }
}

/** Largest number of UTF-16 code units in a line: twice that of the largest plant. */
const maxLineLength = 128 * 1024 * 1024;

/** Only a line feed ends a line: U+2028 may be part of a name, so that `node:readline` cannot read it. */
async function* readLines(
  io: Pick<Io, "stdin">,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  // Lenient, because an invalid byte in a name does not change the id.
  const decoder = new TextDecoder();
  let line = "";
  for await (const bytes of readChunks("-", io, signal)) {
    const [end = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    line += end;
    for (const next of others) {
      yield line;
      line = next;
    }
    if (line.length > maxLineLength) {
      throw new CommandError(
        "usage",
        "a line of standard input is too long: write one id per line",
      );
    }
  }
  yield line + decoder.decode();
}

function parseId(text: string, source: string): bigint {
  if (!text.startsWith("{")) return parseText(source, text, plantId);
  const json = readJson(text, (name) => name === "id");
  if (json instanceof RequestError) throw new CommandError("usage", `${source}: ${json.message}`);
  const [problem] = json.problems;
  // Neither of two members `id` is certain.
  if (problem !== undefined) throw new CommandError("usage", `${source}: ${problem.message}`);
  const id = (json.value as JsonMembers).get("id");
  if (id instanceof JsonNumber) return parseText(`${source}: id`, id.text, plantId);
  throw new CommandError(
    "usage",
    `${source} has no member id with a number: add it, or write only the id`,
  );
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
