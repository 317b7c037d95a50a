/** Plants that are read from an input, one record at a time. */
import type { PlantReading } from "../core/read-body.ts";

/** The content of a record: a plant, or what is there instead of one. */
export interface RecordContent extends PlantReading {
  /** True if the text breaks the syntax of the format, so that the end of the record is uncertain. */
  readonly isMalformed?: true;
}

/** One record of an input. */
export interface PlantRecord {
  /** Line on which the record begins, counted from 1. */
  readonly line: number;
  /** The record as it is in the input, without separators; empty if it has more bytes than the limit. */
  readonly bytes: Uint8Array;
  readonly content: RecordContent;
}

/** Input in which no further record can be found. The message follows the name of the input, as in `FILE is empty`. */
export class InputSyntaxError extends Error {
  override readonly name = "InputSyntaxError";
}
