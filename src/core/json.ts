/**
 * A strict JSON reader (RFC 8259) that keeps what JSON.parse loses: the text of every number, members that occur twice,
 * lone surrogates, and the byte at which something is wrong (CONTRACT "Body").
 */
import { type Problem, RequestError } from "./errors.ts";
import { quoteInput } from "./quote.ts";

/** A number as it stands in the text, unrounded. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON object; a Map, so that `__proto__` is a member name like any other. */
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** What a JSON text says. */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** What {@link readJson} found. */
export interface ParsedJson {
  readonly value: JsonValue;
  /** Members that occur twice (the last one is in the value) and strings with a lone surrogate; the first few. */
  readonly problems: readonly Problem[];
}

/** Arrays and objects within each other; the outermost one counts as 1. */
export const maxNesting = 64;

/** More of them help nobody, and a body could cause a million. */
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
      `the body is not UTF-8: what stands at byte ${firstInvalidByte(bytes)} is no character`,
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
 * Reads one JSON text. A byte order mark before it is passed over.
 *
 * @returns else a RequestError: `notJson` with the byte, `tooDeep` beyond {@link maxNesting}. It is not thrown: that takes as
 *   long as all else about a body that is broken
 */
export function readJson(text: string): ParsedJson | RequestError {
  const reader = new JsonReader(text);
  const value = reader.readText();
  return reader.requestError ?? { value, problems: reader.problems };
}

const byteOrderMark = "\uFEFF";
const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Where the first sequence begins that is no character: a decoder that forgives writes U+FFFD, EF BF BD, for it. */
function firstInvalidByte(bytes: Uint8Array): number {
  const forgivingDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const mended = encoder.encode(forgivingDecoder.decode(bytes));
  const firstDifference = mended.findIndex((byte, index) => byte !== bytes[index]);
  // The broken sequence may itself begin with EF, or with EF BF.
  return mended.lastIndexOf(0xef, firstDifference);
}

/** Text with a byte for each character; to encode it takes a fifth of the time of a refusal. */
const asciiText = /^[ -~\n\r\t]*$/;
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
    if (this.#at < this.#text.length) this.#fail("the end");
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
      if (members.has(name)) this.#note("duplicateMember", "occurs twice: leave one of them out");
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

  /** Steps over an opening bracket. The path is as long as the containers are deep. */
  #enter(): void {
    if (this.#path.length < maxNesting) {
      this.#at++;
    } else {
      this.#refuse(
        "tooDeep",
        `the JSON is nested too deep at byte ${this.#byteAt()}: at most ${maxNesting} levels`,
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
        this.#fail("a character of a string");
        return "";
      }
    }
    this.#at++;
    if (!hasEscapes) return this.#text.slice(start + 1, this.#at - 1);
    // Nothing is left in it that JSON.parse could refuse.
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #skipEscape(): void {
    if (this.#skipMatch(escapePattern)) return;
    this.#at++;
    this.#fail('one of "\\/bfnrt, or u and four hexadecimal digits,');
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

  /** Whether `pattern`, a sticky one, matches here; if so, steps over the match. */
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

  /** Whether `character` comes next after white space; if so, steps over it. */
  #skipTo(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  /** Takes a string whose place is the path. */
  #checkSurrogates(string: string): string {
    if (!string.isWellFormed()) {
      this.#note("loneSurrogate", "holds a lone surrogate: write the pair, or leave it out");
    }
    return string;
  }

  #note(kind: "duplicateMember" | "loneSurrogate", message: string): void {
    if (this.problems.length >= maxProblems) return;
    const pointer = this.#path.map((part) => `/${escapePointer(part)}`).join("");
    this.problems.push({ kind, message: `${quoteInput(pointer, 80) || "the string"} ${message}` });
  }

  #fail(expected: string): void {
    // To say where takes as long as the text is, and each of the containers around would say it again.
    if (this.requestError !== undefined) return;
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const found = this.#at < this.#text.length ? `"${quoteInput(character)}"` : "the end";
    this.#refuse(
      "notJson",
      `the body is not JSON: at byte ${this.#byteAt()} stands ${found}, where ${expected} was expected`,
    );
  }

  /** Behind it stands nothing any more, so that all that is under way comes to its end. */
  #refuse(kind: "notJson" | "tooDeep", message: string): void {
    this.requestError = new RequestError(kind, message);
    this.#at = this.#text.length;
  }

  #byteAt(): number {
    const before = this.#text.slice(0, this.#at);
    return asciiText.test(before) ? before.length : encoder.encode(before).length;
  }
}

/** RFC 6901 section 3; of a long part the beginning, which is more than a message has room for. */
function escapePointer(part: string | number): string {
  return String(part).slice(0, 256).replaceAll("~", "~0").replaceAll("/", "~1");
}
