/** How input may be quoted in a message: cut, escaped, and without tokens (CONTRACT "Status and error numbers"). */

const printableAscii = /^[ -~]*$/;
/** Control, format (bidirectional marks included), unassigned, separator and invisible characters, but not the plain space. */
const unprintable = String.raw`(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]`;
/** Of {@link unprintable}, once it is needed: V8 takes a millisecond to read it, which every command would begin with. */
let unprintablePattern: RegExp | undefined;
/** With the underscore, so that a token right behind another one goes with it. */
const tokenLike = /pst_\w+/g;
/** Longer than the prefix by which its owner knows a token, which is no secret. */
const longerThanPrefix = /pst_\w{5,}/g;
/** More than the length of a token. */
const tokenRoom = 128;

/**
 * Text that is safe on a terminal and in a log: every character that does not show, or that moves or reorders the
 * others, as a JSON escape (`\u202e`).
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

/** Text without the tokens in it; of their prefixes, such as `pst_4fGh`, nothing is taken away. */
export function redactTokens(text: string): string {
  return text.replace(longerThanPrefix, "pst_…");
}

/**
 * A piece of input for a message: without tokens, cut to `maxLength` UTF-16 code units, escaped.
 */
export function quoteInput(text: string, maxLength = 40): string {
  // Bounded before it is searched, and with room for a token that the cut would otherwise leave in part.
  const searched = text.slice(0, maxLength + tokenRoom);
  const redacted = searched.replace(tokenLike, "pst_…");
  if (searched.length === text.length && redacted.length <= maxLength) {
    return escapeUnprintable(redacted);
  }
  const cut = redacted.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "");
  return `${escapeUnprintable(cut)}…`;
}
