/** The text of a JSON body, and the bytes of its positions. */
import { RequestError } from "./errors.ts";

/** Character that may precede a JSON text. */
export const byteOrderMark = "\uFEFF";

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
