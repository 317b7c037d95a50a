/** Text of messages: invalid values, quoting of foreign input (contract.md "Status and error numbers"), lists, and the closest words. */

const printableAscii = /^[ -~]*$/;
/** Control, format (bidirectional marks included), unassigned, separator and invisible characters, except the plain space. */
const unprintable = String.raw`(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]`;
/** Compiled on first use, because V8 takes about 1 ms to compile it. */
let unprintablePattern: RegExp | undefined;
/** Includes the underscore, so that two adjacent tokens match together. */
const tokenLike = /pst_\w+/g;
/** Longer than the prefix that identifies a token, which is not secret. */
const longerThanPrefix = /pst_\w{5,}/g;
/** Longer than a token. */
const tokenRoom = 128;

/**
 * Makes text safe for a terminal and a log: replaces every invisible character, and every character that moves or
 * reorders others, with a JSON escape (`\u202e`).
 */
export function escapeUnprintable(text: string): string {
  if (printableAscii.test(text)) return text;
  unprintablePattern ??= new RegExp(unprintable, "gu");
  return text.replace(unprintablePattern, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index);
      return `\\u${unit.toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}

/** Replaces tokens with `pst_…`. Keeps prefixes such as `pst_4fGh`. */
export function redactTokens(text: string): string {
  return text.replace(longerThanPrefix, "pst_…");
}

/** Quotes input for a message: without tokens, truncated to `maxLength` UTF-16 code units, escaped. */
export function quoteInput(text: string, maxLength = 40): string {
  // Limits the search, with room for a token that the truncation would otherwise split.
  const searched = text.slice(0, maxLength + tokenRoom);
  const redacted = searched.replace(tokenLike, "pst_…");
  if (searched.length === text.length && redacted.length <= maxLength) {
    return escapeUnprintable(redacted);
  }
  const cut = redacted.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "");
  return `${escapeUnprintable(cut)}…`;
}

/** The name of an input in messages. @param path `-` is standard input */
export function toInputName(path: string): string {
  if (path === "-") return "standard input";
  return path === "" ? '""' : path;
}

/** An invalid value. The message continues a sentence that starts with the name of the option. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
  /** True if the value has the right type and is too small, too large or not whole. */
  readonly isOutOfRange: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isOutOfRange?: boolean } = {}) {
    super(message, options);
    this.isOutOfRange = options.isOutOfRange === true;
  }
}

/** An error for a value that breaks a rule; the rule follows "must be". */
export function invalid(value: unknown, rule: string): InvalidValue {
  return new InvalidValue(`must be ${rule} (got ${describeValue(value)})`);
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return `"${quoteInput(value)}"`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}

/** Text without special characters of any shell. */
const plainWord = /^[\w@%+:,./-]+$/;

/** Quotes text if necessary, by the rules of POSIX (XCU section 2.2), which also hold for bash and zsh. */
export function toShellWord(text: string): string {
  return plainWord.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Follows the name of a member or option whose text contains an unpaired surrogate. */
export const unpairedSurrogate = "contains an unpaired surrogate: write the pair, or remove it";

/** Lists words: `id, name and tag`, or the only one. */
export function joinWords(words: readonly string[], conjunction = "and"): string {
  if (words.length === 1) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}

/** Reasons by the code of the system, where its own words are unclear. */
const systemReasons: Readonly<Record<string, string>> = {
  EISDIR: "it is a directory",
  ENOENT: "the path does not exist",
  ENOTDIR: "a part of its path is not a directory",
};

/** Returns the reason in a system error, such as `permission denied`, without its code and its path. */
export function toSystemReason(error: unknown): string {
  const message = isError(error) ? error.message : String(error);
  const [, code = "", words = message] = /^(?:\w+ )?(E[A-Z0-9]+): ([^,]+)/.exec(message) ?? [];
  return systemReasons[code] ?? words;
}

/** Returns the only known word that differs from an unknown one in at most one letter, regardless of case. */
export function findClosestWord(word: string, known: readonly string[]): string | undefined {
  const [closest, ...others] = known.filter(
    (each) =>
      Math.min(word.length, each.length) > 1 &&
      isOneLetterOff(word.toLowerCase(), each.toLowerCase()),
  );
  return others.length === 0 ? closest : undefined;
}

/** Checks for equality but for one letter that is inserted, deleted or replaced, or two neighbours that are swapped. */
function isOneLetterOff(from: string, to: string): boolean {
  let index = 0;
  while (index < to.length && from[index] === to[index]) index++;
  const [first = "", second = ""] = from.slice(index);
  const swapped = from.slice(0, index) + second + first + from.slice(index + 2);
  const rest = to.slice(index + 1);
  const [kept, deleted] = [from.slice(index), from.slice(index + 1)];
  return swapped === to || kept === rest || deleted === rest || deleted === to.slice(index);
}

/**
 * Checks whether a value is an error, of whichever realm: in the vm contexts of Jest and vitest, the errors that
 * Node itself throws are not instances of `Error`.
 */
export function isError(value: unknown): value is Error {
  return isBuiltIn(value, "Error") || isBuiltIn(value, "DOMException");
}

/** Checks whether a value is a Uint8Array, of whichever realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return isBuiltIn(value, "Uint8Array");
}

/** Checks whether a value is an object of a built-in class, of whichever realm. */
export function isBuiltIn<
  Name extends "AbortSignal" | "DOMException" | "Error" | "Uint8Array" | "URL",
>(value: unknown, className: Name): value is InstanceType<(typeof globalThis)[Name]> {
  return Object.prototype.toString.call(value) === `[object ${className}]`;
}
