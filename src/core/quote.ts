/** Quotes input: in messages truncated, escaped and without tokens (contract.md "Status and error numbers"), and for a shell. */

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

/** Text without special characters of any shell. */
const plainWord = /^[\w@%+:,./-]+$/;

/** Quotes text if necessary, by the rules of POSIX (XCU section 2.2), which also hold for bash and zsh. */
export function toShellWord(text: string): string {
  return plainWord.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
