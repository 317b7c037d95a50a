/**
 * Reads JSON strictly (RFC 8259) and keeps what JSON.parse loses: number texts, duplicate members, unpaired surrogates,
 * and the byte of an error (contract.md "Body").
 */
import { type Problem, RequestError } from "./errors.ts";
import { quoteInput } from "./quote.ts";

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

/**
 * Reads one JSON text. Skips a byte order mark at its start.
 *
 * @returns the value, or a RequestError `notJson` with the byte, or `tooDeep` beyond {@link maxNesting}. It is returned
 *   because throwing would double the time for an invalid body
 */
export function readJson(text: string): ParsedJson | RequestError {
  const reader = new JsonReader(text);
  const value = reader.readText();
  return reader.requestError ?? { value, problems: reader.problems };
}

const byteOrderMark = "\uFEFF";
const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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

/** Follows the name of a member or option whose text contains an unpaired surrogate. */
export const unpairedSurrogate = "contains an unpaired surrogate: write the pair, or remove it";

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapePattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quotationMark = 0x22;
const backslash = 0x5c;

class JsonReader {
  readonly problems: Problem[] = [];
  requestError: RequestError | undefined;
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readText(): JsonValue {
    if (this.#text.startsWith(byteOrderMark)) this.#at = 1;
    this.#skipSpace();
    const value = this.#readValue();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("the end of the text");
    return value;
  }

  #readValue(): JsonValue {
    switch (this.#text[this.#at]) {
      case '"':
        return this.#checkSurrogates(this.#readString());
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
        return this.#readNumber();
    }
  }

  #readObject(): JsonObject {
    const members = new Map<string, JsonValue>();
    this.#enter();
    if (this.#skipTo("}")) return members;
    do {
      this.#skipSpace();
      if (this.#text.charCodeAt(this.#at) !== quotationMark) this.#fail("a member name in quotes");
      const name = this.#readString();
      this.#path.push(name);
      this.#checkSurrogates(name);
      if (members.has(name)) this.#report("duplicateMember", "occurs twice: remove one");
      if (!this.#skipTo(":")) this.#fail('":"');
      this.#skipSpace();
      members.set(name, this.#readValue());
      this.#path.pop();
    } while (this.#skipTo(","));
    if (!this.#skipTo("}")) this.#fail('"," or "}"');
    return members;
  }

  #readArray(): readonly JsonValue[] {
    const items: JsonValue[] = [];
    this.#enter();
    if (this.#skipTo("]")) return items;
    do {
      this.#skipSpace();
      this.#path.push(items.length);
      items.push(this.#readValue());
      this.#path.pop();
    } while (this.#skipTo(","));
    if (!this.#skipTo("]")) this.#fail('"," or "]"');
    return items;
  }

  /** Skips an opening bracket. The length of the path is the depth. */
  #enter(): void {
    if (this.#path.length < maxNesting) {
      this.#at++;
    } else {
      this.#reject(
        "tooDeep",
        `JSON nested too deeply at byte ${this.#byteAt()}: use at most ${maxNesting} levels`,
      );
    }
  }

  #readString(): string {
    const start = this.#at++;
    let hasEscapes = false;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === quotationMark) break;
      if (code === backslash) {
        hasEscapes = true;
        this.#skipEscape();
      } else if (code >= space) {
        this.#at++;
      } else {
        // At the end of the text the code is NaN.
        this.#fail(code < space ? "an escape such as \\n" : "a closing quotation mark");
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
    this.#fail('an escape (one of "\\/bfnrt, or u and four hexadecimal digits)');
  }

  #readNumber(): JsonNumber {
    const start = this.#at;
    if (!this.#skipMatch(numberPattern)) this.#fail("a value");
    return new JsonNumber(this.#text.slice(start, this.#at));
  }

  #readWord<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail("a value");
    this.#at += word.length;
    return value;
  }

  /** Skips a match of a sticky pattern; returns whether it matches here. */
  #skipMatch(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== space && code !== lineFeed && code !== carriageReturn && code !== tab) return;
      this.#at++;
    }
  }

  /** Skips white space and then `character`; returns whether it was there. */
  #skipTo(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
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

  #fail(expected: string): void {
    // Finding the byte takes time, and every enclosing container fails again.
    if (this.requestError !== undefined) return;
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const found = this.#at < this.#text.length ? `"${quoteInput(character)}"` : "the end";
    this.#reject(
      "notJson",
      `invalid JSON: expected ${expected} but found ${found} at byte ${this.#byteAt()}`,
    );
  }

  /** Moves to the end of the text so that all enclosing reads stop. */
  #reject(kind: "notJson" | "tooDeep", message: string): void {
    this.requestError = new RequestError(kind, message);
    this.#at = this.#text.length;
  }

  #byteAt(): number {
    const before = this.#text.slice(0, this.#at);
    return asciiText.test(before) ? before.length : encoder.encode(before).length;
  }
}

/** RFC 6901 section 3. Truncates a part that is too long for a message anyway. */
function escapePathPart(part: string | number): string {
  return String(part).slice(0, 256).replaceAll("~", "~0").replaceAll("/", "~1");
}
