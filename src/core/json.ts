/**
 * Reads JSON strictly (RFC 8259) and keeps what JSON.parse loses: number texts, duplicate members, unpaired surrogates,
 * and the byte of an error (contract.md "Body").
 */
import type { Problem, RequestError } from "./errors.ts";
import { JsonScanner } from "./json-scanner.ts";
import { quoteInput } from "./quote.ts";
import { unpairedSurrogate } from "./words.ts";

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
