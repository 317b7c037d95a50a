/** Scans the tokens of a JSON text (RFC 8259 section 2). */
import { RequestError } from "./errors.ts";
import { backslash, byteOrderMark, countBytes, isBlank, quotationMark } from "./json-text.ts";
import { quoteInput } from "./quote.ts";

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapePattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Characters before it are control characters, which a string must escape. */
const firstPrintable = 0x20;

/** A position in a JSON text. After an error, it is the end of the text, so that all reads stop. */
export class JsonScanner {
  /** The first error. */
  requestError: RequestError | undefined;
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith(byteOrderMark) ? 1 : 0;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The next character; undefined at the end. */
  get next(): string | undefined {
    return this.#text[this.#at];
  }

  /** The number of bytes before the position. */
  get byte(): number {
    return countBytes(this.#text.slice(0, this.#at));
  }

  /** Skips one character. */
  skip(): void {
    this.#at++;
  }

  skipSpace(): void {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  /** Skips white space and then `character`; returns whether it was there. */
  skipTo(character: string): boolean {
    this.skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  /** Reads a string whose opening quotation mark is next. */
  readString(): string {
    const start = this.#at++;
    let hasEscapes = false;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === quotationMark) break;
      if (code === backslash) {
        hasEscapes = true;
        this.#skipEscape();
      } else if (code >= firstPrintable) {
        this.#at++;
      } else {
        // At the end of the text the code is NaN.
        this.fail(code < firstPrintable ? "an escape such as \\n" : "a closing quotation mark");
        return "";
      }
    }
    this.#at++;
    if (!hasEscapes) return this.#text.slice(start + 1, this.#at - 1);
    // JSON.parse cannot throw: the string was checked.
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #skipEscape(): void {
    if (this.#skipMatch(escapePattern)) return;
    this.#at++;
    this.fail('an escape (one of "\\/bfnrt, or u and four hexadecimal digits)');
  }

  /** Reads a number as its text. */
  readNumber(): string {
    const start = this.#at;
    if (!this.#skipMatch(numberPattern)) this.fail("a value");
    return this.#text.slice(start, this.#at);
  }

  /** Skips a word such as `true`. */
  skipWord(word: string): void {
    if (!this.#text.startsWith(word, this.#at)) this.fail("a value");
    this.#at += word.length;
  }

  /** Skips a match of a sticky pattern; returns whether it matches here. */
  #skipMatch(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** Stops because of a character that is not `expected`. */
  fail(expected: string): void {
    // Finding the byte takes time, and every enclosing container fails again.
    if (this.requestError !== undefined) return;
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const found = this.#at < this.#text.length ? `"${quoteInput(character)}"` : "the end";
    this.reject(
      "notJson",
      `invalid JSON: expected ${expected} but found ${found} at byte ${this.byte}`,
    );
  }

  /** Stops with an error. */
  reject(kind: "notJson" | "tooDeep", message: string): void {
    this.requestError = new RequestError(kind, message);
    this.#at = this.#text.length;
  }
}
