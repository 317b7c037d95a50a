/** The text of a JSON body, and the bytes of its positions. */
import { RequestError } from "./errors.ts";

/** Character that may precede a JSON text. */
export const byteOrderMark = "\uFEFF";

/** Characters with a meaning in JSON and in tables, as codes and as bytes. */
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
export function isBlank(code: number): boolean {
  return code === 0x20 || code === lineFeed || code === 0x0d || code === 0x09;
}

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes UTF-8.
 *
 * @returns the text, or a RequestError `emptyBody` or `notUtf8`
 */
export function decodeJsonText(bytes: Uint8Array): string | RequestError {
  let text: string;
  try {
    text = strictDecoder.decode(bytes);
  } catch {
    return new RequestError(
      "notUtf8",
      `invalid UTF-8 at byte ${firstInvalidByte(bytes)}: encode the text in UTF-8`,
    );
  }
  if (text === "" || text === byteOrderMark) {
    return new RequestError(
      "emptyBody",
      'the body is empty: send a plant such as {"id":1,"name":"fern"}',
    );
  }
  return text;
}

/** Finds the first invalid sequence: a lenient decoder replaces it with U+FFFD, EF BF BD. */
function firstInvalidByte(bytes: Uint8Array): number {
  const lenientDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const replaced = encoder.encode(lenientDecoder.decode(bytes));
  const firstDifference = replaced.findIndex((byte, index) => byte !== bytes[index]);
  // The invalid sequence can itself start with EF or with EF BF.
  return replaced.lastIndexOf(0xef, firstDifference);
}

/** Text with one byte per character; encoding it would take a fifth of the time of a rejection. */
const asciiText = /^[ -~\n\r\t]*$/;

/** Returns the number of bytes of a text in UTF-8. */
export function countBytes(text: string): number {
  return asciiText.test(text) ? text.length : encoder.encode(text).length;
}
