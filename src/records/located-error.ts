/** Names the line and the column of invalid JSON, as editors do. The service names the byte of the body instead (contract.md "Body"). */
import { attempt } from "../core/attempt.ts";
import { JsonError, leftBrace } from "../core/json.ts";
import { RequestError } from "../core/errors.ts";
import { isMember } from "../core/read-plant.ts";
import { quoteInput, toShellWord } from "../core/messages.ts";
import { toFilter } from "./other-formats.ts";
import type { PlantRecord } from "./record-reader.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** Number of bytes that hold any character, or a word of another language. */
const maxWordBytes = 16;

/** An error whose message names its line and column in an input. */
export class LocatedError extends RequestError {}

/**
 * Names the line and the column in the input instead of the byte of an error, and adds how to fix a common mistake.
 * Anything else stays the same.
 *
 * @param name of the input
 */
export function locateError<T>(
  error: T,
  { line, column, bytes }: Pick<PlantRecord, "line" | "column" | "bytes">,
  name: string,
): T | LocatedError {
  if (!(error instanceof JsonError)) return error;
  const { kind, byte, parts, expected } = error;
  const before = decoder.decode(bytes.subarray(0, byte));
  const found = decoder.decode(bytes.subarray(byte, byte + maxWordBytes));
  const lines = before.split("\n");
  const firstColumn = lines.length === 1 ? column : 1;
  const errorColumn = firstColumn + Array.from(lines.at(-1) ?? "").length;
  const position = ` (${name}:${line + lines.length - 1}:${errorColumn})`;
  return new LocatedError(
    kind,
    parts.join(position + findAdvice(expected, before.trimEnd(), found)),
  );
}

/** A larger object is not searched: in memory, it can be 20 times as large. */
const maxSearchedBytes = 8 * 1024 * 1024;

/**
 * Adds how to send the plants of an object that is not a plant, but has them in a member, such as `{"plants":[…]}`. Anything
 * else stays the same.
 *
 * @param path of the input; `-` is standard input
 * @param command that reads plants from standard input
 */
export function adviseUnwrapping<T>(
  error: T,
  { bytes }: Pick<PlantRecord, "bytes">,
  path: string,
  command: string,
): T | RequestError {
  if (!(error instanceof RequestError) || !/^(?:id|name)Missing$/.test(error.kind)) return error;
  if (bytes.length > maxSearchedBytes || bytes[0] !== leftBrace) return error;
  // A row of a table can begin as an object.
  const members = attempt(() => JSON.parse(decoder.decode(bytes)) as object) ?? {};
  const isObject = (value: unknown) => value instanceof Object && !Array.isArray(value);
  const isCollection = (value: unknown) => Array.isArray(value) && isObject(value[0]);
  const entries = Object.entries(members);
  const [name] = entries.find(([key, value]) => !isMember(key) && isCollection(value)) ?? [];
  if (name === undefined || quoteInput(name) !== name) return error;
  const member = /^[A-Za-z_]\w*$/.test(name) ? `.${name}[]` : `.[${JSON.stringify(name)}][]`;
  const advice = `; if the plants are in its member ${name}: ${toFilter(`jq -c ${toShellWord(member)}`, path)} | ${command}`;
  return new RequestError(error.kind, error.message + advice);
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
  if (found.startsWith(",") && expected === "the end of the text") return ": remove it";
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
