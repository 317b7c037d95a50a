/** Names the place of invalid JSON as editors do. The service names the byte of the body instead (contract.md "Body"). */
import { type ErrorKind, RequestError } from "../core/errors.ts";
import type { PlantRecord } from "./record-reader.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** Number of bytes that hold any character, or the beginning of a comment. */
const maxCharacterBytes = 4;
/** Errors whose messages name a byte, and quote no more than one character. */
const kindsWithByte: readonly ErrorKind[] = ["notJson", "notUtf8", "tooDeep"];

/**
 * Replaces the byte in the message of an error with the line and the column in the input, and adds how to fix a common
 * mistake. Anything else stays the same.
 *
 * @param name of the input
 */
export function locateError<T>(
  error: T | RequestError,
  { line, column, bytes }: Pick<PlantRecord, "line" | "column" | "bytes">,
  name: string,
): T | RequestError {
  if (!(error instanceof RequestError)) return error;
  const { kind, message } = error;
  const [part, byte] = / at byte (\d+)/.exec(message) ?? [];
  if (part === undefined || !kindsWithByte.includes(kind)) return error;
  const at = Number(byte);
  const before = decoder.decode(bytes.subarray(0, at));
  const found = decoder.decode(bytes.subarray(at, at + maxCharacterBytes));
  const lines = before.split("\n");
  const firstColumn = lines.length === 1 ? column : 1;
  const errorColumn = firstColumn + Array.from(lines.at(-1) ?? "").length;
  const place = `${name}:${line + lines.length - 1}:${errorColumn}`;
  const advice = kind === "notJson" ? findAdvice(message, before.trimEnd(), found) : "";
  return new RequestError(
    kind,
    message.replace(part, () => ` (${place})${advice}`),
  );
}

/**
 * Finds the mistake of a text that is JSON to its writer, or to JavaScript.
 *
 * @param before the text before the error
 * @param found the text at the error
 */
function findAdvice(message: string, before: string, found: string): string {
  if (/^[}\]]/.test(found) && before.endsWith(",")) return ": remove the comma before it";
  if (found.startsWith(",") && message.includes("the end of the text")) return ": remove it";
  if (/^(?:\/[/*]|#)/.test(found)) return ": remove the comment, because JSON has none";
  if (/^['‘’“”]/.test(found)) return ': use double quotes (")';
  if (!/^[\p{L}_$]/u.test(found) || before === "") return "";
  if (message.includes("a member name")) return ": put the name in double quotes";
  return message.includes("a value") ? ": put text in double quotes" : "";
}
