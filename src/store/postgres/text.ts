/**
 * Strings in PostgreSQL's text, which cannot contain NUL. NUL is stored as ␛␀ (U+241B U+2400) and ␛ as ␛␛; every other
 * character is stored unchanged. Different strings stay different, so that stored strings can be compared.
 */

const escapeSymbol = "\u241B";
const nulSymbol = "\u2400";

/** Encodes a string for storage. */
export function toSqlText(text: string): string {
  return text.replace(/[\0\u241B]/g, (character) =>
    character === "\0" ? escapeSymbol + nulSymbol : escapeSymbol + escapeSymbol,
  );
}

/** Decodes a stored string. A ␛ before any other character, which only another program writes, stays. */
export function fromSqlText(stored: string): string {
  return stored.replace(/\u241B([\u2400\u241B])/g, (_, symbol) =>
    symbol === nulSymbol ? "\0" : escapeSymbol,
  );
}
