/** The bytes that tell where JSON begins and ends; all of them are ASCII, which UTF-8 uses for nothing else. */

export const lineFeed = 0x0a;
/** Before each text of a sequence (RFC 7464 section 2.2). */
export const recordSeparator = 0x1e;
export const quotationMark = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const leftBracket = 0x5b;
export const backslash = 0x5c;
export const rightBracket = 0x5d;
export const leftBrace = 0x7b;
export const rightBrace = 0x7d;

const horizontalTab = 0x09;
const carriageReturn = 0x0d;
const space = 0x20;

/** Whether a byte is white space (RFC 8259 section 2). */
export function isBlank(byte: number): boolean {
  return byte === space || byte === lineFeed || byte === carriageReturn || byte === horizontalTab;
}

/** Whether a byte is one of the three of a byte order mark. Before JSON they can be nothing else. */
export function isOfByteOrderMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf;
}

/** Without the white space at the end. */
export function trimEnd(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.findLastIndex((byte) => !isBlank(byte)) + 1);
}
