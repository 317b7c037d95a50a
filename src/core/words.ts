/** Words in messages: lists of them, the reason of a system error, and the word that a misspelled one probably means. */

/** Follows the name of a member or option whose text contains an unpaired surrogate. */
export const unpairedSurrogate = "contains an unpaired surrogate: write the pair, or remove it";

/** Lists at least two words: `id, name and tag`. */
export function joinWords(words: readonly string[], conjunction = "and"): string {
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
  const message = error instanceof Error ? error.message : String(error);
  const [, code = "", words = message] = /^(E[A-Z0-9]+): ([^,]+)/.exec(message) ?? [];
  return systemReasons[code] ?? words;
}

/** Largest number of edits at which words are similar. */
const maxEdits = 2;

/**
 * Returns the known word that is most similar to an unknown one, regardless of case.
 *
 * @returns undefined if no known word is within two edits, or if all of its letters would have to change
 */
export function findClosestWord(word: string, known: readonly string[]): string | undefined {
  let closest: string | undefined;
  let fewest = maxEdits + 1;
  for (const each of known) {
    if (Math.abs(each.length - word.length) > maxEdits) continue;
    const edits = countEdits(word.toLowerCase(), each.toLowerCase());
    if (edits >= fewest || edits >= Math.min(word.length, each.length)) continue;
    closest = each;
    fewest = edits;
  }
  return closest;
}

/** Number of insertions, deletions and replacements that turn one word into the other (Levenshtein distance). */
function countEdits(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, letter] of Array.from(from).entries()) {
    const current = [row + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
