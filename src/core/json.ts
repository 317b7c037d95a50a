/** Exact JSON: checks a whole text, and reads the members of its outermost object as they were written (contract.md "Body"). */
import { type Problem, RequestError } from "./errors.ts";
import { quoteInput, unpairedSurrogate } from "./messages.ts";

/** A number as its text, unrounded. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value that is kept, if only by its kind. */
export type JsonValue =
  | string
  | JsonNumber
  | { readonly is: "null" | "true" | "false" | "an array" | "an object" };

/** The members of the outermost object that are kept. */
export type JsonMembers = ReadonlyMap<string, JsonValue>;

/** Result of {@link readJson}. */
export interface ParsedJson {
  readonly value: JsonMembers | JsonValue;
  /** Duplicate members (the value has the first one) and strings with an unpaired surrogate, among those that are kept. */
  readonly problems: readonly Problem[];
}

/** Maximum depth of arrays and objects; the outermost one counts as 1. */
export const maxNesting = 64;

/** An error at a byte of a text. */
export class JsonError extends RequestError {
  declare readonly kind: "notJson" | "notUtf8" | "tooDeep";
  /** Number of bytes before the error. */
  readonly byte: number;
  /** The message before its position, and after it. */
  readonly parts: readonly [problem: string, fix: string];
  /** The part that invalid JSON lacks at the byte, in words. */
  readonly expected: string | undefined;

  constructor(kind: JsonError["kind"], byte: number, parts: JsonError["parts"], expected?: string) {
    super(kind, parts.join(` at byte ${byte}`));
    this.byte = byte;
    this.parts = parts;
    this.expected = expected;
  }
}

/** Characters with a meaning in JSON and in tables, as codes and as bytes. */
export const lineFeed = 0x0a;
export const quotationMark = 0x22;
export const comma = 0x2c;
export const leftBracket = 0x5b;
export const backslash = 0x5c;
export const rightBracket = 0x5d;
export const leftBrace = 0x7b;
export const rightBrace = 0x7d;

/** Checks for white space (RFC 8259 section 2). */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === lineFeed || code === 0x0d || code === 0x09;
}

/**
 * Reads one JSON text. Skips a byte order mark at its start.
 *
 * @param isKept chooses members of the outermost object by name. All others are only checked: a body can consist of millions
 * @returns the value, or a JsonError. It is returned because throwing would double the time for an invalid body
 */
export function readJson(text: string, isKept: (name: string) => boolean): ParsedJson | JsonError {
  return new JsonReader(text, isKept).read();
}

/** Character that may precede a JSON text. */
const byteOrderMark = "\uFEFF";
/** Characters before it are control characters, which a string must escape. */
const firstPrintable = 0x20;
/** A number or a word. */
const scalarPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const escapePattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** A position in a JSON text. After an error, it is the end of the text, so that all reads stop. */
class JsonReader {
  readonly #text: string;
  readonly #isKept: (name: string) => boolean;
  readonly #members = new Map<string, JsonValue>();
  readonly #problems: Problem[] = [];
  /** Names of members that occur twice. */
  readonly #repeated: string[] = [];
  #at: number;
  /** Number of open brackets of the value. */
  #depth = 0;
  /** The first error. */
  #error: JsonError | undefined;

  constructor(text: string, isKept: (name: string) => boolean) {
    this.#text = text;
    this.#isKept = isKept;
    this.#at = text.startsWith(byteOrderMark) ? 1 : 0;
  }

  read(): ParsedJson | JsonError {
    this.#skipSpace();
    const isObject = this.#text[this.#at] === "{";
    const value = this.#readValue();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("the end of the text");
    return this.#error ?? { value: isObject ? this.#members : value, problems: this.#problems };
  }

  #readValue(): JsonValue {
    const start = this.#at;
    const first = this.#text.charAt(start);
    if (first === '"') return this.#readString();
    this.#skipValue();
    if (first === "{") return { is: "an object" };
    if (first === "[") return { is: "an array" };
    const text = this.#text.slice(start, this.#at);
    return "tfn".includes(first) ? { is: text as "true" | "false" | "null" } : new JsonNumber(text);
  }

  #skipValue(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code === quotationMark) this.#skipString();
    else if (code === leftBrace) this.#skipItems("}");
    else if (code === leftBracket) this.#skipItems("]");
    else if (!this.#skipMatch(scalarPattern)) this.#fail("a value");
  }

  /** Skips an array or an object. */
  #skipItems(end: "]" | "}"): void {
    if (++this.#depth > maxNesting) {
      this.#stop("tooDeep", ["JSON nested too deeply", `: use at most ${maxNesting} levels`]);
    }
    this.#at++;
    if (!this.#skipTo(end)) {
      do {
        this.#skipSpace();
        if (end === "}") this.#skipMember();
        else this.#skipValue();
      } while (this.#skipTo(","));
      if (!this.#skipTo(end)) this.#fail(`"," or "${end}"`);
    }
    this.#depth--;
  }

  /** Skips a member, and keeps it if it is in the outermost object. */
  #skipMember(): void {
    if (this.#text[this.#at] !== '"') this.#fail("a member name in quotes");
    const name = this.#depth === 1 ? this.#readString() : this.#skipString();
    if (!this.#skipTo(":")) this.#fail('":"');
    this.#skipSpace();
    if (typeof name !== "string" || !this.#isKept(name)) this.#skipValue();
    else if (this.#members.has(name)) this.#skipRepeated(name);
    else this.#keep(name);
  }

  #keep(name: string): void {
    const value = this.#readValue();
    if (typeof value === "string" && !value.isWellFormed()) {
      this.#problems.push({ kind: "loneSurrogate", message: `${name} ${unpairedSurrogate}` });
    }
    this.#members.set(name, value);
  }

  /** Reports a name once: a body can repeat it a million times. */
  #skipRepeated(name: string): void {
    this.#skipValue();
    if (this.#repeated.includes(name)) return;
    this.#repeated.push(name);
    const message = `${name} occurs twice: remove one`;
    this.#problems.push({ kind: "duplicateMember", message });
  }

  #readString(): string {
    const start = this.#at;
    const hasEscapes = this.#skipString();
    if (!hasEscapes) return this.#text.slice(start + 1, this.#at - 1);
    // JSON.parse cannot throw: the string was checked.
    return this.#error ? "" : (JSON.parse(this.#text.slice(start, this.#at)) as string);
  }

  #skipSpace(): void {
    while (isBlank(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  /** Skips white space and then `character`; returns whether it was there. */
  #skipTo(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  /** Skips a string whose opening quotation mark is next; returns whether it has escapes. */
  #skipString(): boolean {
    const text = this.#text;
    let hasEscapes = false;
    let at = this.#at + 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === quotationMark) break;
      if (code === backslash) {
        hasEscapes = true;
        this.#at = at;
        if (!this.#skipMatch(escapePattern)) {
          this.#fail('an escape (one of "\\/bfnrt, or u and four hexadecimal digits)', at + 1);
          return true;
        }
        at = this.#at;
      } else if (code >= firstPrintable) at++;
      else {
        // At the end of the text the code is NaN.
        this.#fail(
          code < firstPrintable ? "an escape such as \\n" : "a closing quotation mark",
          at,
        );
        return true;
      }
    }
    this.#at = at + 1;
    return hasEscapes;
  }

  /** Skips a match of a sticky pattern; returns whether it matches here. */
  #skipMatch(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** Stops because of a character that is not `expected`. */
  #fail(expected: string, at = this.#at): void {
    // Every enclosing container fails again.
    if (this.#error !== undefined) return;
    this.#at = at;
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const shown = character === '"' ? "a quotation mark" : `"${quoteInput(character)}"`;
    const found = this.#at < this.#text.length ? shown : "the end";
    this.#stop("notJson", [`invalid JSON: expected ${expected} but found ${found}`, ""], expected);
  }

  #stop(kind: "notJson" | "tooDeep", parts: JsonError["parts"], expected?: string): void {
    this.#error = new JsonError(kind, countBytes(this.#text.slice(0, this.#at)), parts, expected);
    this.#at = this.#text.length;
  }
}

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8. @returns the text, or a RequestError `emptyBody` or `notUtf8` */
export function decodeJsonText(bytes: Uint8Array): string | RequestError {
  let text: string;
  try {
    text = strictDecoder.decode(bytes);
  } catch {
    return new JsonError("notUtf8", firstInvalidByte(bytes), [
      "invalid UTF-8",
      ": encode the text in UTF-8",
    ]);
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

function countBytes(text: string): number {
  return asciiText.test(text) ? text.length : encoder.encode(text).length;
}
