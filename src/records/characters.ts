/** Bytes with a meaning in JSON and in CSV. */
export const lineFeed = 0x0a;
export const quotationMark = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const leftBracket = 0x5b;
export const backslash = 0x5c;
export const rightBracket = 0x5d;
export const leftBrace = 0x7b;
export const rightBrace = 0x7d;

/** Checks for white space (RFC 8259 section 2). */
export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === lineFeed || byte === 0x0d || byte === 0x09;
}
