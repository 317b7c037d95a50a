/**
 * Strings as PostgreSQL's text can hold them, which has no NUL. A string is stored as it is, but for two characters: NUL
 * becomes ␛␀ (U+241B U+2400), and ␛ itself becomes ␛␛. Different strings stay different, so they can be compared as they
 * are stored.
 */

const escapeSymbol = "\u241B";
const nulSymbol = "\u2400";

/** A string as it is stored. */
export function toSqlText(text: string): string {
  return text.replace(/[\0\u241B]/g, (character) =>
    character === "\0" ? escapeSymbol + nulSymbol : escapeSymbol + escapeSymbol,
  );
}

/** A string as it was before it was stored. A ␛ with anything else behind it, which only others write, stays. */
export function fromSqlText(stored: string): string {
  return stored.replace(/\u241B([\u2400\u241B])/g, (_, symbol) =>
    symbol === nulSymbol ? "\0" : escapeSymbol,
  );
}
