/** Names the place of invalid JSON as editors do. The service names the byte of the body instead (contract.md "Body"). */
import { JsonError } from "../core/json.ts";
import { RequestError } from "../core/errors.ts";
import type { PlantRecord } from "./record-reader.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** Number of bytes that hold any character, or the beginning of a comment. */
const maxCharacterBytes = 4;

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
  const found = decoder.decode(bytes.subarray(byte, byte + maxCharacterBytes));
  const lines = before.split("\n");
  const firstColumn = lines.length === 1 ? column : 1;
  const errorColumn = firstColumn + Array.from(lines.at(-1) ?? "").length;
  const place = ` (${name}:${line + lines.length - 1}:${errorColumn})`;
  return new LocatedError(kind, parts.join(place + findAdvice(expected, before.trimEnd(), found)));
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
  if (!/^[\p{L}_$]/u.test(found) || before === "") return "";
  if (expected === "a member name in quotes") return ": put the name in double quotes";
  return expected === "a value" ? ": put text in double quotes" : "";
}
