/** Exact JSON: reads a value of UTF-8 bytes with its numbers as they were written (contract.md "Body"). */
import { type Problem, RequestError } from "./errors.ts";
import { quoteInput, unpairedSurrogate } from "./messages.ts";

/** A number as its text, unrounded. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON object; a Map, so that `__proto__` is an ordinary member name. */
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** Any JSON value. */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** Result of {@link readJson}. */
export interface ParsedJson {
  readonly value: JsonValue;
  /** The first few duplicate members (the value has the last one) and strings with an unpaired surrogate. */
  readonly problems: readonly Problem[];
}

/** Maximum depth of arrays and objects; the outermost one counts as 1. */
export const maxNesting = 64;

/** Limits the reported problems; a hostile body can contain a million. */
const maxProblems = 8;

/**
 * Reads one JSON text. Skips a byte order mark at its start.
 *
 * @returns the value, or a RequestError `notJson` with the byte, or `tooDeep` beyond {@link maxNesting}. It is returned
 *   because throwing would double the time for an invalid body
 */
export function readJson(text: string): ParsedJson | RequestError {
  const scanner = new JsonScanner(text);
  const reader = new JsonReader(scanner);
  const value = reader.readText();
  return scanner.requestError ?? { value, problems: reader.problems };
}

class JsonReader {
  readonly problems: Problem[] = [];
  readonly #scanner: JsonScanner;
  readonly #path: (string | number)[] = [];

  constructor(scanner: JsonScanner) {
    this.#scanner = scanner;
  }

  readText(): JsonValue {
    this.#scanner.skipSpace();
    const value = this.#readValue();
    this.#scanner.skipSpace();
    if (!this.#scanner.isAtEnd) this.#scanner.fail("the end of the text");
    return value;
  }

  #readValue(): JsonValue {
    switch (this.#scanner.next) {
      case '"':
        return this.#checkSurrogates(this.#scanner.readString());
      case "{":
        return this.#readObject();
      case "[":
        return this.#readArray();
      case "t":
        return this.#readWord("true", true);
      case "f":
        return this.#readWord("false", false);
      case "n":
        return this.#readWord("null", null);
      default:
        return new JsonNumber(this.#scanner.readNumber());
    }
  }

  #readWord<T extends boolean | null>(word: string, value: T): T {
    this.#scanner.skipWord(word);
    return value;
  }

  #readObject(): JsonObject {
    const members = new Map<string, JsonValue>();
    const scanner = this.#scanner;
    this.#enter();
    if (scanner.skipTo("}")) return members;
    do {
      scanner.skipSpace();
      if (scanner.next !== '"') scanner.fail("a member name in quotes");
      const name = scanner.readString();
      this.#path.push(name);
      this.#checkSurrogates(name);
      if (members.has(name)) this.#report("duplicateMember", "occurs twice: remove one");
      if (!scanner.skipTo(":")) scanner.fail('":"');
      scanner.skipSpace();
      members.set(name, this.#readValue());
      this.#path.pop();
    } while (scanner.skipTo(","));
    if (!scanner.skipTo("}")) scanner.fail('"," or "}"');
    return members;
  }

  #readArray(): readonly JsonValue[] {
    const items: JsonValue[] = [];
    const scanner = this.#scanner;
    this.#enter();
    if (scanner.skipTo("]")) return items;
    do {
      scanner.skipSpace();
      this.#path.push(items.length);
      items.push(this.#readValue());
      this.#path.pop();
    } while (scanner.skipTo(","));
    if (!scanner.skipTo("]")) scanner.fail('"," or "]"');
    return items;
  }

  /** Skips an opening bracket. The length of the path is the depth. */
  #enter(): void {
    const scanner = this.#scanner;
    if (this.#path.length < maxNesting) {
      scanner.skip();
    } else {
      scanner.reject(
        "tooDeep",
        `JSON nested too deeply at byte ${scanner.byte}: use at most ${maxNesting} levels`,
      );
    }
  }

  /** Checks a string whose place is the path. */
  #checkSurrogates(string: string): string {
    if (!string.isWellFormed()) {
      this.#report("loneSurrogate", unpairedSurrogate);
    }
    return string;
  }

  #report(kind: "duplicateMember" | "loneSurrogate", message: string): void {
    if (this.problems.length >= maxProblems) return;
    const path = this.#path.map(escapePathPart).join("/");
    const place = this.#path.length === 0 ? "the string" : quoteInput(path, 80) || '""';
    this.problems.push({ kind, message: `${place} ${message}` });
  }
}

/** RFC 6901 section 3. Truncates a part that is too long for a message anyway. */
function escapePathPart(part: string | number): string {
  return String(part).slice(0, 256).replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Character that may precede a JSON text. */
const byteOrderMark = "\uFEFF";

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

/** Decodes UTF-8. @returns the text, or a RequestError `emptyBody` or `notUtf8` */
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
function countBytes(text: string): number {
  return asciiText.test(text) ? text.length : encoder.encode(text).length;
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapePattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Characters before it are control characters, which a string must escape. */
const firstPrintable = 0x20;

/** A position in a JSON text. After an error, it is the end of the text, so that all reads stop. */
class JsonScanner {
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
