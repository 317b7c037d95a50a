/** Plants that are read from an input, one record at a time. */
import type { PlantReading } from "../core/plant.ts";

/** One record of an input: a plant, or what is there instead of one. */
export interface PlantRecord extends PlantReading {
  /** Line on which the record begins, counted from 1. */
  readonly line: number;
  /** The record as it is in the input, without separators; empty if it has more bytes than the limit. */
  readonly bytes: Uint8Array;
}

/** The content of a record. */
export interface ParsedRecord extends PlantReading {
  /** True if the text breaks the syntax of the format, so that the end of the record is uncertain. */
  readonly isMalformed: boolean;
}

/** Input in which no further record can be found. The message follows the name of the input, as in `FILE is empty`. */
export class InputSyntaxError extends Error {
  override readonly name = "InputSyntaxError";
}
