/**
 * Tells where each record of a stream of JSON begins and ends: values one after the other, in whatever layout, or the
 * elements of arrays. It goes by brackets, quotes, and the commas of these arrays; what else there is is for the parser to
 * judge.
 *
 * Broken JSON ends where the next line begins with `{`, indented like the last record that began a line: JSON that is
 * laid out by a program begins a record there, and nothing else.
 */
import { maxNesting } from "../../core/json.ts";
import {
  backslash,
  colon,
  comma,
  isBlank,
  isOfByteOrderMark,
  leftBrace,
  leftBracket,
  lineFeed,
  quotationMark,
  rightBrace,
  rightBracket,
} from "./json-bytes.ts";

/**
 * What a byte is to the records:
 * - `between`: in none of them
 * - `first`, `inside`, `last`: in one
 * - `past`: in none; the record ended before it
 * - `next`: the first of a record; the one before ended before it
 * - `commaMissing`: the first of a record, to which the comma is missing
 * - `elementMissing`: in none; a comma or a bracket, to which the element is missing
 */
export type ByteRole =
  | "between"
  | "first"
  | "inside"
  | "last"
  | "past"
  | "next"
  | "commaMissing"
  | "elementMissing";

/** Scans byte by byte. */
export class ValueScanner {
  /** That of the byte to come, counted from 1. */
  line: number;
  /** Whether an array is open whose elements are the records. */
  isInArray = false;
  /** Whether there was such an array. */
  hasSeenArray = false;
  /**
   * - `bracketed`: ends with its bracket
   * - `bare`: an element without brackets; ends before a comma or a bracket
   * - `broken`: ends where a line begins as records do
   */
  #record: "none" | "bracketed" | "bare" | "broken" = "none";
  /** What came last in the array, with nothing but blanks since. */
  #lastInArray: "bracket" | "comma" | "element" = "bracket";
  /** The brackets that are still to come; in a record that is not broken. */
  #closers: number[] = [];
  #isInString = false;
  #isEscaped = false;
  /** The last byte that is neither blank nor in a string. */
  #previous = 0;
  /** The blanks at the beginning of this line, while nothing else has come. */
  #indentation: number | undefined = 0;
  /** Those of the last record that began a line. */
  #recordIndentation: number | undefined;

  constructor(line = 1) {
    this.line = line;
  }

  /** Whether a record has begun and not ended. */
  get isInRecord(): boolean {
    return this.#record !== "none";
  }

  /** Whether it is certain that the record is not JSON. */
  get isBroken(): boolean {
    return this.#record === "broken";
  }

  /** Takes the next byte. */
  scan(byte: number): ByteRole {
    if (byte === lineFeed) return this.#endLine();
    if (this.#isInString) return this.#scanString(byte);
    if (isBlank(byte)) {
      if (this.#indentation !== undefined) this.#indentation++;
      return this.isInRecord ? "inside" : "between";
    }
    // Where this byte stands when it is the first one of its line.
    const indentation = this.#indentation;
    this.#indentation = undefined;
    const role = this.#scanToken(byte, indentation);
    this.#previous = byte;
    return role;
  }

  #endLine(): ByteRole {
    this.line++;
    this.#indentation = 0;
    if (this.#isInString) this.#break(); // A string of JSON has its line breaks escaped.
    return this.isInRecord ? "inside" : "between";
  }

  #scanString(byte: number): ByteRole {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quotationMark) this.#isInString = false;
    return "inside";
  }

  #scanToken(byte: number, indentation: number | undefined): ByteRole {
    switch (this.#record) {
      case "none":
        return this.#scanBetween(byte, indentation);
      case "bracketed":
        return this.#scanBracketed(byte, indentation);
      case "bare":
        return this.#scanBare(byte, indentation);
      case "broken":
        return this.#scanBroken(byte, indentation);
    }
  }

  #scanBetween(byte: number, indentation: number | undefined): ByteRole {
    if (this.isInArray && (byte === comma || byte === rightBracket)) return this.#endElement(byte);
    if (!this.isInArray && byte === leftBracket) {
      this.isInArray = true;
      this.hasSeenArray = true;
      this.#lastInArray = "bracket";
      return "between";
    }
    if (isOfByteOrderMark(byte)) {
      this.#indentation = indentation;
      return "between";
    }
    const isCommaMissing = this.isInArray && this.#lastInArray === "element";
    this.#begin(byte, indentation);
    return isCommaMissing ? "commaMissing" : "first";
  }

  /** An array may have no elements, but none is left out. */
  #endElement(byte: number): ByteRole {
    const last = this.#lastInArray;
    const isElementMissing = last === "comma" || (last === "bracket" && byte === comma);
    if (byte === rightBracket) this.isInArray = false;
    // A comma too many is one mistake, and no second one when the array ends behind it.
    else if (!isElementMissing) this.#lastInArray = "comma";
    return isElementMissing ? "elementMissing" : "between";
  }

  #begin(byte: number, indentation: number | undefined): void {
    this.#recordIndentation = indentation ?? this.#recordIndentation;
    this.#lastInArray = "element";
    this.#closers = [];
    if (byte === leftBrace || byte === leftBracket) {
      this.#record = "bracketed";
      this.#open(byte);
    } else if (this.isInArray) {
      this.#record = "bare";
      this.#isInString = byte === quotationMark;
    } else {
      this.#break();
    }
  }

  #scanBracketed(byte: number, indentation: number | undefined): ByteRole {
    switch (byte) {
      case quotationMark:
        this.#isInString = true;
        return "inside";
      case leftBrace:
      case leftBracket:
        if (!this.#canOpen()) return this.#breakAt(byte, indentation);
        this.#open(byte);
        return "inside";
      case rightBrace:
      case rightBracket:
        if (this.#closers.pop() !== byte) return this.#breakAt(byte, indentation);
        if (this.#closers.length > 0) return "inside";
        this.#record = "none";
        return "last";
      default:
        return "inside";
    }
  }

  #open(byte: number): void {
    this.#closers.push(byte === leftBrace ? rightBrace : rightBracket);
  }

  /** Whether JSON can have an array or an object here. */
  #canOpen(): boolean {
    if (this.#closers.length >= maxNesting) return false;
    if (this.#previous === colon || this.#previous === leftBracket) return true;
    return this.#previous === comma && this.#closers.at(-1) === rightBracket;
  }

  #scanBare(byte: number, indentation: number | undefined): ByteRole {
    switch (byte) {
      case quotationMark:
        this.#isInString = true;
        return "inside";
      case leftBrace:
      case leftBracket:
        this.#begin(byte, indentation);
        return "next";
      case comma:
      case rightBracket:
        this.#record = "none";
        this.#endElement(byte);
        return "past";
      default:
        return "inside";
    }
  }

  #break(): void {
    this.#record = "broken";
    this.#isInString = false;
    this.#isEscaped = false;
  }

  #breakAt(byte: number, indentation: number | undefined): ByteRole {
    this.#break();
    return this.#scanBroken(byte, indentation);
  }

  #scanBroken(byte: number, indentation: number | undefined): ByteRole {
    if (indentation === undefined) return "inside";
    const expected = this.#recordIndentation ?? indentation;
    if (byte === leftBrace && indentation === expected) {
      this.#begin(byte, indentation);
      return "next";
    }
    // The end of the array stands further left than its elements, where those are indented.
    if (byte === rightBracket && this.isInArray && indentation <= Math.max(expected - 1, 0)) {
      this.#record = "none";
      this.isInArray = false;
      return "past";
    }
    return "inside";
  }
}
