/** Names the line and the column of invalid JSON, as editors do. The service names the byte of the body instead (contract.md "Body"). */
import { JsonError } from "../core/json.ts";
import { RequestError } from "../core/errors.ts";
import type { NewPlant } from "../core/plant.ts";
import { isMember } from "../core/read-plant.ts";
import { quoteInput, toShellWord } from "../core/messages.ts";
import { toPipe } from "./foreign-formats.ts";
import type { InputSource } from "./record-reader.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** Number of bytes that hold any character, or a word of another language. */
const maxWordBytes = 16;

/** The bytes of an invalid text, and where they begin in an input, both counted from 1. */
interface InputPosition {
  readonly bytes: Uint8Array;
  readonly line: number;
  readonly column: number;
}

/**
 * Names the line and the column in the input instead of the byte of an error, and adds how to fix a common mistake. Any other
 * error stays the same.
 *
 * @param name of the input
 */
export function locateError(
  error: RequestError,
  { bytes, line, column }: InputPosition,
  name: string,
): RequestError {
  if (!(error instanceof JsonError)) return error;
  const { kind, byte, parts, expected } = error;
  const before = decoder.decode(bytes.subarray(0, byte));
  const found = decoder.decode(bytes.subarray(byte, byte + maxWordBytes));
  const lines = before.split("\n");
  const firstColumn = lines.length === 1 ? column : 1;
  const errorColumn = firstColumn + Array.from(lines.at(-1) ?? "").length;
  const position = ` (${name}:${line + lines.length - 1}:${errorColumn})`;
  const advice = findAdvice(expected, before.trimEnd(), found);
  return new RequestError(kind, parts.join(position + advice));
}

/** A larger object is not searched: in memory, it can be 20 times as large. */
const maxSearchedBytes = 8 * 1024 * 1024;

/**
 * Adds how to send the plants of an object that is not a plant, but has them in a member, such as `{"plants":[…]}`. Anything
 * else stays the same.
 */
export function adviseUnwrapping(
  plant: NewPlant | RequestError,
  bytes: Uint8Array,
  { path, command }: Pick<InputSource, "path" | "command">,
): NewPlant | RequestError {
  if (!(plant instanceof RequestError) || !/^(?:id|name)Missing$/.test(plant.kind)) return plant;
  if (bytes.length > maxSearchedBytes) return plant;
  const members = JSON.parse(decoder.decode(bytes).replace(/^\uFEFF/, "")) as object;
  const isCollection = (value: unknown) =>
    Array.isArray(value) && value[0] instanceof Object && !Array.isArray(value[0]);
  const entries = Object.entries(members);
  const [name] = entries.find(([key, value]) => !isMember(key) && isCollection(value)) ?? [];
  if (name === undefined || quoteInput(name) !== name) return plant;
  const member = /^[A-Za-z_]\w*$/.test(name) ? `.${name}[]` : `.[${JSON.stringify(name)}][]`;
  const pipe = toPipe(`jq -c ${toShellWord(member)}`, path, command);
  const message = `${plant.message}; if the plants are in its member ${name}: ${pipe}`;
  return new RequestError(plant.kind, message);
}

/**
 * Finds the mistake of a text that is JSON to its writer, or to JavaScript.
 *
 * @param before the text before the error
 * @param found the text at the error
 */
function findAdvice(expected: string | undefined, before: string, found: string): string {
  if (expected === undefined) return "";
  if (/^[}\]]/.test(found) && before.endsWith(",")) return ": remove the comma before it";
  if (found.startsWith(",") && (before === "" || expected === "the end of the text")) {
    return ": remove it";
  }
  if (/^(?:\/[/*]|#)/.test(found)) return ": remove the comment, because JSON has none";
  if (/^['‘’“”]/.test(found)) return ': use double quotes (")';
  if (before === "") return "";
  const [word] = /^(?:None|-?(?:NaN|Infinity)|nan|nil|Null|NULL|undefined)\b/.exec(found) ?? [];
  if (word !== undefined) return `: leave the member out, because JSON has no ${word}`;
  if (/^(?:True|False)\b/.test(found)) return ": write it in lower case";
  if (!/^[\p{L}_$]/u.test(found)) return "";
  if (expected === "a member name in quotes") return ": put the name in double quotes";
  return expected === "a value" ? ": put text in double quotes" : "";
}
